"""Merges, rebases, cherry-picks and exports: previewed, then performed exactly so; operations, which can be undone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from forge.api.http.codes import CHANGING, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Part, Shop, in_pages
from forge.api.http.parameters import Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import history as shapes
from forge.api.shapes.base import Page
from forge.app.repositories import export as exports
from forge.app.repositories import merges, operations

router = router_for("/repositories/{repository}")

_LOOKED = may_end(together(REPOSITORY, LOOKING))
_CHANGED = may_end(together(REPOSITORY, CHANGING))


@router.post("/merges/preview", tags=["merges"], response_model=shapes.MergeShape, responses=_CHANGED)
def preview_merge(shop: Shop, who: Asking, *, repository: Repo, body: shapes.MergeRequest) -> Any:
    """What a merge would give, with its conflicts. Nothing is written."""
    return merges.preview_merge(shop, who, repository, _order(body), resolutions=_resolutions(body))


@router.post("/merges", tags=["merges"], response_model=shapes.MergedShape, responses=_CHANGED)
def perform_merge(shop: Shop, who: Asking, *, repository: Repo, body: shapes.MergeOrderShape) -> Any:
    """Merge, rebase or cherry-pick, unless conflicts are left; with what a preview saw, only if nothing moved."""
    seen = (body.seen_target, body.seen_source)
    return merges.perform_merge(shop, who, repository, _order(body), expected=seen, resolutions=_resolutions(body))


@router.get(
    "/merges/indicators",
    tags=["merges"],
    response_model=Page[shapes.IndicatorShape],
    responses={**_LOOKED, **in_pages(shapes.IndicatorShape)},
)
def list_merge_indicators(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    target: Annotated[str, Query(min_length=1, max_length=250)],
) -> Any:
    """For each branch, whether it would merge cleanly into `target`."""
    return part.given(
        shapes.IndicatorShape,
        lambda after, limit: merges.indicators(shop, who, repository, target, after=after, limit=limit),
    )


@router.get(
    "/operations",
    tags=["operations"],
    response_model=Page[shapes.OperationShape],
    responses={**_LOOKED, **in_pages(shapes.OperationShape)},
)
def list_operations(shop: Shop, who: Asking, *, repository: Repo, part: Part) -> Any:
    """What moved branches, newest first."""
    return part.given(
        shapes.OperationShape,
        lambda after, limit: operations.list_operations(shop, who, repository, after=after, limit=limit),
    )


@router.post("/operations/undo", tags=["operations"], response_model=shapes.OperationShape, responses=_CHANGED)
def undo_last_operation(shop: Shop, who: Asking, *, repository: Repo) -> Any:
    """Take back the last operation that is not undone yet."""
    return operations.undo_operation(shop, who, repository)


@router.post(
    "/operations/{operation}/undo", tags=["operations"], response_model=shapes.OperationShape, responses=_CHANGED
)
def undo_operation(
    shop: Shop, who: Asking, *, repository: Repo, operation: Annotated[str, Path(min_length=1, max_length=100)]
) -> Any:
    """Take back an operation."""
    return operations.undo_operation(shop, who, repository, operation)


@router.post("/exports/preview", tags=["branches"], response_model=shapes.ExportShape, responses=_CHANGED)
def preview_export(shop: Shop, who: Asking, *, repository: Repo, body: shapes.ExportRequest) -> Any:
    """What a copy of a branch would be, with its conversations or without them. Nothing is written."""
    return exports.preview_export(shop, who, repository, _export(body))


@router.post("/exports", tags=["branches"], response_model=shapes.ExportShape, responses=_CHANGED)
def export_branch(shop: Shop, who: Asking, *, repository: Repo, body: shapes.ExportOrderShape) -> Any:
    """Make a copy of a branch that can be given away. The branch itself stays as it is."""
    return exports.export_branch(shop, who, repository, _export(body), expected=body.seen_source)


def _export(body: shapes.ExportRequest) -> exports.ExportOrder:
    return exports.ExportOrder(body.source, body.name, body.conversation)


def _order(body: shapes.MergeRequest) -> merges.MergeOrder:
    return merges.MergeOrder(
        kind=merges.MergeKind(body.kind),
        target=body.target,
        sources=tuple(body.sources),
        message=body.message,
        no_ff=body.no_ff,
        conversation=body.conversation,
        mainline=body.mainline,
        record_origin=body.record_origin,
        first=body.first,
    )


def _resolutions(body: shapes.MergeRequest) -> dict[Any, Any] | None:
    """By path, or for a chain by commit and path."""
    by_path: dict[str, bytes | None] = {}
    by_commit: dict[str, dict[str, bytes | None]] = {}
    for each in body.resolutions:
        found = by_path if each.commit is None else by_commit.setdefault(each.commit, {})
        found[each.path] = None if each.text is None else each.text.encode()
    return by_commit or by_path or None
