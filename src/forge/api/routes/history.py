"""Commits, differences, blame and the graph of a repository."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from forge.api.http.codes import LOOKING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Part, Shop, in_pages
from forge.api.http.parameters import Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import history as shapes
from forge.api.shapes.base import Page
from forge.app.repositories import history

router = router_for("/repositories/{repository}", tag="history")

Rev = Annotated[str, Query(min_length=1, max_length=250, description="A branch, tag or commit.")]
OptionalRev = Annotated[str | None, Query(min_length=1, max_length=250)]
FilePath = Annotated[str, Query(min_length=1, max_length=4096)]
_LOOKED = may_end(together(REPOSITORY, LOOKING))


@router.get("/commits", response_model=Page[shapes.CommitShape], responses={**_LOOKED, **in_pages(shapes.CommitShape)})
def list_commits(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    rev: OptionalRev = None,
    path: Annotated[str | None, Query(min_length=1, max_length=4096)] = None,
    follow: Annotated[bool, Query(description="Over renames of `path`.")] = False,
    grep: Annotated[str | None, Query(max_length=500)] = None,
    author: Annotated[str | None, Query(max_length=500)] = None,
) -> Any:
    """Commits, newest first, of HEAD if nothing is named."""
    return part.given(
        shapes.CommitShape,
        lambda after, limit: history.log(
            shop,
            who,
            repository,
            rev,
            paths=(path,) if path else (),
            follow=follow,
            grep=grep,
            author=author,
            after=after,
            limit=limit,
        ),
    )


@router.get("/commits/{commit}", response_model=shapes.CommitDetailShape, responses=_LOOKED)
def show_commit(
    shop: Shop, who: Asking, *, repository: Repo, commit: Annotated[str, Path(min_length=1, max_length=250)]
) -> Any:
    """A commit and the files that it changed."""
    return history.commit(shop, who, repository, commit)


@router.get("/diffs", response_model=shapes.DiffShape, responses=_LOOKED)
def show_diff(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    new: Rev,
    old: OptionalRev = None,
    since_fork: Annotated[bool, Query(description="From where `new` left `old`.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
) -> Any:
    """Which files differ from `old` to `new`; without `old`, what the commit `new` changed."""
    return history.diff(shop, who, repository, new, old, since_fork=since_fork, limit=limit)


@router.get("/patches", response_model=shapes.PatchShape, responses=_LOOKED)
def show_patch(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    path: FilePath,
    new: Rev,
    old: OptionalRev = None,
    since_fork: bool = False,
    context: Annotated[int, Query(ge=0, le=1000)] = 3,
) -> Any:
    """How one file differs, line by line."""
    return history.patch(shop, who, repository, path, new, old=old, since_fork=since_fork, context=context)


@router.get("/blame", response_model=shapes.BlameShape, responses=_LOOKED)
def show_blame(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    path: FilePath,
    rev: Rev = "HEAD",
    first: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    last: Annotated[int | None, Query(ge=1, le=10_000_000)] = None,
) -> Any:
    """Who wrote which line."""
    return history.blame(shop, who, repository, path, rev, first=first, last=last)


@router.get("/graph", response_model=Page[shapes.GraphShape], responses={**_LOOKED, **in_pages(shapes.GraphShape)})
def show_graph(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    abandoned: Annotated[bool, Query(description="What no branch reaches any more, too.")] = False,
) -> Any:
    """Commits of all branches with the lanes to draw them in, newest first."""
    return part.given(
        shapes.GraphShape,
        lambda after, limit: history.graph(shop, who, repository, after=after, limit=limit, abandoned=abandoned),
    )
