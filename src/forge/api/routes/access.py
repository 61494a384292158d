"""Who is signed in, users and their keys, shares of projects and repositories, and the audit."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from forge.api.http.dependencies import Asking, Doors, Part, Shop, in_pages
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import access as shapes
from forge.api.shapes.base import Page
from forge.app.access import identity, users
from forge.app.projects import project_access, repository_rights
from forge.app.repositories import catalog
from forge.app.values.pages import Page as FoundPage
from forge.app.values.pages import position

router = router_for()

Id = Annotated[str, Path(min_length=1, max_length=100)]
Kind = Literal["projects", "repositories"]
_KINDS: dict[str, Any] = {"projects": "project", "repositories": "repository"}
_USER = {404: ["user_unknown"]}
_SHARED = {404: ["user_unknown", "project_missing", "repository_missing"], 422: ["invalid_input"]}


@router.post("/sign-in", tags=["access"], response_model=shapes.WhoShape, responses=may_end({401: ["token_refused"]}))
async def sign_in(request: Request, response: Response, gate: Doors, body: shapes.SignIn) -> Any:
    """A cookie, for the one-time token of the start URL or for a key."""
    admitted = await run_in_threadpool(gate.sign_in, body.token, request.scope)
    if admitted.cookie is not None:
        response.headers["Set-Cookie"] = admitted.cookie
    return admitted.who


@router.get("/sign-in", tags=["access"], response_model=shapes.WhoShape, responses=may_end())
async def show_who(who: Asking) -> Any:
    """Who is signed in, and what they may do."""
    return who


@router.delete("/sign-in", tags=["access"], status_code=204, responses=may_end())
async def sign_out(request: Request, response: Response, gate: Doors) -> None:
    """Sign this browser out."""
    response.headers["Set-Cookie"] = gate.sign_out(request.scope)


@router.get("/users", tags=["access"], response_model=shapes.UsersShape, responses=may_end())
def list_users(shop: Shop, who: Asking) -> Any:
    """All users."""
    return {"users": users.list_users(shop, who)}


@router.post(
    "/users",
    tags=["access"],
    status_code=201,
    response_model=shapes.UserShape,
    responses=may_end({409: ["user_exists"], 422: ["user_name_invalid"]}),
)
def add_user(shop: Shop, who: Asking, *, body: shapes.NewUser) -> Any:
    """A new user. A key lets them in."""
    return users.add_user(shop, who, body.name)


@router.post("/users/{user}/disable", tags=["access"], response_model=shapes.UserShape, responses=may_end(_USER))
def disable_user(shop: Shop, who: Asking, gate: Doors, *, user: Id) -> Any:
    """Disable a user: their keys stop working at once, and their streams are closed. What is theirs stays theirs."""
    disabled = users.disable_user(shop, who, user)
    gate.look_again()
    return disabled


@router.get("/keys", tags=["access"], response_model=shapes.KeysShape, responses=may_end(_USER))
def list_keys(shop: Shop, who: Asking, *, user: Annotated[str | None, Query(max_length=100)] = None) -> Any:
    """Your own keys; for whoever may administer, a user's or everybody's. Never the keys themselves."""
    return {"keys": users.list_keys(shop, who, user)}


@router.post(
    "/keys",
    tags=["access"],
    status_code=201,
    response_model=shapes.NewKeyShape,
    responses=may_end(
        {**_USER, 404: [*_USER[404], "project_missing"], 409: ["user_disabled"], 422: ["key_options_invalid"]}
    ),
)
def create_key(shop: Shop, who: Asking, *, body: shapes.NewKeyOrder) -> Any:
    """A new key. It is shown this once."""
    identity.require(who, "admin")
    secret = identity.server_secret(shop.settings.data_dir)
    reach = (
        repository_rights.key_reach(project_access.project_for(shop, who, body.project))
        if body.project is not None
        else None
    )
    return users.new_key(shop, who, secret, body.user, name=body.name, scopes=body.scopes, days=body.days, reach=reach)


@router.post(
    "/keys/{key}/revoke",
    tags=["access"],
    response_model=shapes.KeyShape,
    responses=may_end({404: ["key_unknown"]}),
)
def revoke_key(shop: Shop, who: Asking, gate: Doors, *, key: Id) -> Any:
    """Revoke a key: it opens nothing any more, and streams that it opened are closed."""
    revoked = users.revoke_key(shop, who, key)
    gate.look_again()
    return revoked


@router.get("/{kind}/{id}/shares", tags=["access"], response_model=shapes.SharesShape, responses=may_end(_SHARED))
def list_shares(shop: Shop, who: Asking, *, kind: Kind, id: Id) -> Any:  # noqa: A002
    """With whom a project or repository is shared; for its owner."""
    identity.require(who, "read")
    _refuse_missing(shop, who, kind, id)
    return {"shares": identity.shared_with(shop, who, _KINDS[kind], id)}


@router.put("/{kind}/{id}/shares/{user}", tags=["access"], status_code=204, responses=may_end(_SHARED))
def share(shop: Shop, who: Asking, *, kind: Kind, id: Id, user: Id, body: shapes.Share) -> None:  # noqa: A002
    """Let another user see a project or repository, or also change it."""
    identity.require(who, "write")
    _refuse_missing(shop, who, kind, id)
    identity.share(shop, who, _KINDS[kind], id, user, right=body.right)


@router.delete("/{kind}/{id}/shares/{user}", tags=["access"], status_code=204, responses=may_end(_SHARED))
def unshare(shop: Shop, who: Asking, gate: Doors, *, kind: Kind, id: Id, user: Id) -> None:  # noqa: A002
    """Take a share back. They hear of it no more, either."""
    identity.require(who, "write")
    _refuse_missing(shop, who, kind, id)
    identity.unshare(shop, who, _KINDS[kind], id, user)
    gate.look_again()


@router.get(
    "/audit",
    tags=["access"],
    response_model=Page[shapes.DeedShape],
    responses={**may_end({422: ["invalid_page"]}), **in_pages(shapes.DeedShape)},
)
def list_audit(
    shop: Shop, who: Asking, *, part: Part, user: Annotated[str | None, Query(max_length=100)] = None
) -> Any:
    """Who did what, newest first."""

    def page(after: str | None, limit: int) -> FoundPage[Any]:
        found = identity.audited(shop, who, before=position(after) or None, limit=limit, user=user)
        return FoundPage(found, str(found[-1].id) if len(found) == limit else None)

    return part.given(shapes.DeedShape, page)


def _refuse_missing(shop: Shop, who: Asking, kind: Kind, id_: str) -> None:
    """The person at this machine may share everything, but only what there is."""
    if kind == "projects":
        project_access.project_for(shop, who, id_)
    else:
        catalog.repository_entry(shop, who, id_)
