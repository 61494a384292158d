"""Remotes of a repository, and pushes to them: previewed, then sent by git with the credentials of the server."""

from __future__ import annotations

from typing import Any

from forge.api.http.codes import CHANGING, PUSHING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Shop
from forge.api.http.parameters import Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import remotes as shapes
from forge.app.repositories import push as pushes

router = router_for("/repositories/{repository}", tag="remotes")

_CHANGED = may_end(together(REPOSITORY, CHANGING, PUSHING))


@router.get("/remotes", response_model=list[shapes.RemoteShape], responses=may_end(REPOSITORY))
def list_remotes(shop: Shop, who: Asking, *, repository: Repo) -> Any:
    """The remotes that git's configuration names, `origin` first."""
    return pushes.list_remotes(shop, who, repository)


@router.post("/pushes/preview", response_model=shapes.PushShape, responses=_CHANGED)
def preview_push(shop: Shop, who: Asking, *, repository: Repo, body: shapes.PushRequest) -> Any:
    """What a push would send. Nothing is sent, and the remote is not asked."""
    return pushes.preview_push(shop, who, repository, _order(body))


@router.post("/pushes", response_model=shapes.PushShape, responses=_CHANGED)
def push_branch(shop: Shop, who: Asking, *, repository: Repo, body: shapes.PushOrderShape) -> Any:
    """Push a branch. It uses the credentials of the server, so users of a team server need the scope `admin`."""
    return pushes.push_branch(shop, who, repository, _order(body), expected=body.seen_source)


def _order(body: shapes.PushRequest) -> pushes.PushOrder:
    return pushes.PushOrder(body.source, body.remote, body.to, body.conversation, body.replace)
