"""Files of branches and commits: listed, read, saved, renamed, deleted, searched. Each change is one commit."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

import forge.api.http.path_converters  # noqa: F401 - routes below use its kind of path
from forge.api.http import contents
from forge.api.http.codes import CHANGING, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import NDJSON, Asking, Part, Shop, binary, in_pages
from forge.api.http.parameters import Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import repositories as shapes
from forge.api.shapes.base import Page
from forge.app.repositories import edits, files

router = router_for("/repositories/{repository}", tag="files")

Branch = Annotated[str | None, Query(max_length=250, description="The branch; the checkout's if left out.")]
OnBranch = Annotated[str, Query(min_length=1, max_length=250)]
At = Annotated[str | None, Query(max_length=250, description="A commit, instead of a branch.")]
Name = Annotated[str, Path(max_length=4096, examples=["beds/north.md"])]
Message = Annotated[str | None, Query(max_length=10_000, description="Of the commit.")]
_LOOKED = may_end(together(REPOSITORY, LOOKING))
_CONDITIONAL = {412: ("file_changed",), 413: ("body_too_large",), 422: ("condition_invalid",)}
_CHANGED = may_end(together(REPOSITORY, CHANGING, _CONDITIONAL))


@router.get("/files", response_model=Page[shapes.EntryShape], responses={**_LOOKED, **in_pages(shapes.EntryShape)})
def list_files(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    branch: Branch = None,
    at: At = None,
    prefix: Annotated[str, Query(max_length=4096)] = "",
) -> Any:
    """Every file whose path begins with `prefix`."""
    return part.given(
        shapes.EntryShape,
        lambda after, limit: files.list_files(
            shop, who, repository, branch=branch, at=at, prefix=prefix, after=after, limit=limit
        ),
    )


@router.get(
    "/paths",
    response_class=Response,
    openapi_extra={"parameters": [contents.IF_NONE_MATCH]},
    responses={
        **_LOOKED,
        200: {"description": "One path a line.", "content": {NDJSON: {"schema": {"type": "string"}}}},
        304: {"description": "It is what you have."},
    },
)
def list_paths(
    shop: Shop, who: Asking, *, repository: Repo, request: Request, branch: Branch = None, at: At = None
) -> Response:
    """Every path, one JSON string a line; for finding one by its letters. Its ETag is the id of the tree."""
    return contents.paths(request, files.all_paths(shop, who, repository, branch=branch, at=at))


@router.get(
    "/folders", response_model=Page[shapes.FolderEntryShape], responses={**_LOOKED, **in_pages(shapes.FolderEntryShape)}
)
def list_folder(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    path: Annotated[str, Query(max_length=4096)] = "",
    branch: Branch = None,
    at: At = None,
) -> Any:
    """What is directly in a folder; the top one if left out."""
    return part.given(
        shapes.FolderEntryShape,
        lambda after, limit: files.list_folder(
            shop, who, repository, path, branch=branch, at=at, after=after, limit=limit
        ),
    )


@router.get(
    "/files/{path:whole}",
    response_class=Response,
    openapi_extra={"parameters": [contents.IF_NONE_MATCH, contents.RANGE]},
    responses={
        **may_end(together(REPOSITORY, LOOKING, {416: ("range_missing",)})),
        **binary("The content."),
    },
)
def read_file(
    shop: Shop, who: Asking, *, repository: Repo, path: Name, request: Request, branch: Branch = None, at: At = None
) -> Response:
    """The content of a file. Its ETag is the id of the content."""
    return contents.given(request, files.read_file(shop, who, repository, path, branch=branch, at=at))


@router.put(
    "/files/{path:whole}",
    response_model=shapes.SavedShape,
    openapi_extra={**contents.BODY, "parameters": [contents.IF_MATCH, contents.IF_NONE_MATCH]},
    responses=_CHANGED,
)
async def save_file(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    path: Name,
    request: Request,
    response: Response,
    branch: OnBranch,
    message: Message = None,
    executable: bool | None = None,
    large: Annotated[bool, Query(description="Save it however large it is; see `limits.file_mb`.")] = False,
) -> Any:
    """Write a whole file. `If-Match` saves only over what you saw, `If-None-Match: *` only a new one."""
    contents.refuse_other_bytes(request)
    data, wanted = await request.body(), contents.expected(request)

    def save() -> edits.Saved:
        return edits.save_file(
            shop,
            who,
            repository,
            branch,
            path,
            data,
            expected=wanted,
            executable=executable,
            message=message,
            large=large,
        )

    saved = await run_in_threadpool(contents.changed, save, conditional=wanted is not None)
    if isinstance(saved, edits.Saved):
        response.headers["ETag"] = f'"{saved.etag}"'
    return saved


@router.delete(
    "/files/{path:whole}",
    response_model=shapes.SavedShape,
    openapi_extra={"parameters": [contents.IF_MATCH]},
    responses=_CHANGED,
)
def delete_file(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    path: Name,
    request: Request,
    branch: OnBranch,
    message: Message = None,
) -> Any:
    """Delete a file; with `If-Match` only the content that you saw."""
    wanted = contents.expected(request)

    def delete() -> edits.Saved:
        return edits.delete_file(shop, who, repository, branch, path, expected=wanted, message=message)

    return contents.changed(delete, conditional=wanted is not None)


@router.post("/renames", response_model=shapes.SavedShape, responses=_CHANGED)
def rename_file(shop: Shop, who: Asking, *, repository: Repo, body: shapes.Renamed) -> Any:
    """Give a file another path."""

    def rename() -> edits.Saved:
        return edits.rename_file(
            shop, who, repository, body.branch, body.path, body.to, expected=body.expected, message=body.message
        )

    return contents.changed(rename, conditional=body.expected is not None)


@router.delete("/folders", response_model=shapes.SavedShape, responses=may_end(together(REPOSITORY, CHANGING)))
def delete_folder(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    path: Annotated[str, Query(min_length=1, max_length=4096, examples=["old-beds"])],
    branch: OnBranch,
    message: Message = None,
) -> Any:
    """Delete every file below a folder, in one commit."""
    return edits.delete_folder(shop, who, repository, branch, path, message=message)


@router.post("/folder-renames", response_model=shapes.SavedShape, responses=may_end(together(REPOSITORY, CHANGING)))
def rename_folder(shop: Shop, who: Asking, *, repository: Repo, body: shapes.RenamedFolder) -> Any:
    """Give a folder another path: every file below it moves, in one commit."""
    return edits.rename_folder(shop, who, repository, body.branch, body.path, body.to, message=body.message)


@router.post("/searches", response_model=shapes.FoundShape, responses=may_end(together(REPOSITORY, LOOKING)))
def search_files(shop: Shop, who: Asking, *, repository: Repo, body: shapes.Search) -> Any:
    """Lines that match, within 10 seconds and the limits given."""
    return files.search(shop, who, repository, contents.query(body), branch=body.branch, at=body.at)
