"""Repositories that Forge manages, and their branches."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

import forge.api.http.path_converters  # noqa: F401 - routes below use its kind of path
from forge.api.http.codes import CHANGING, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Part, Shop, in_pages
from forge.api.http.parameters import Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for, written
from forge.api.shapes import repositories as shapes
from forge.api.shapes.base import Page
from forge.app.repositories import branch_tests, branches, catalog
from forge.errors import InvalidInput

router = router_for("/repositories")

BranchName = Annotated[str, Path(min_length=1, max_length=250, examples=["ai/first"])]


@router.get("", tags=["repositories"], response_model=shapes.RepositoriesShape, responses=may_end())
def list_repositories(shop: Shop, who: Asking) -> Any:
    """Repositories that you may see, by name, and those that could be added."""
    listed = catalog.list_repositories(shop, who)
    return {"repositories": listed, "offered": catalog.offered_repositories(shop, who)}


@router.post(
    "",
    tags=["repositories"],
    status_code=201,
    response_model=shapes.RepositoryShape,
    responses={
        **may_end(REPOSITORY),
        200: {"model": shapes.RepositoryShape, "description": "The server lists it already."},
    },
)
def add_repository(shop: Shop, who: Asking, *, body: shapes.NewRepository) -> Any:
    """Look after the repository at this path from now on."""
    entry, is_new = catalog.add_new_repository(shop, who, body.path)
    return entry if is_new else written(shapes.RepositoryShape, entry)


@router.get(
    "/{repository}", tags=["repositories"], response_model=shapes.RepositoryShape, responses=may_end(REPOSITORY)
)
def show_repository(shop: Shop, who: Asking, *, repository: Repo) -> Any:
    """One repository."""
    return catalog.repository_entry(shop, who, repository)


@router.delete("/{repository}", tags=["repositories"], status_code=204, responses=may_end(REPOSITORY))
def forget_repository(shop: Shop, who: Asking, *, repository: Repo) -> None:
    """Look after a repository no more. The repository itself stays as it is."""
    catalog.forget_repository(shop, who, repository)


@router.get(
    "/{repository}/tests",
    tags=["repositories"],
    response_model=shapes.BranchTestsShape,
    responses=may_end(together(REPOSITORY, LOOKING)),
)
def show_tests(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    branch: Annotated[str | None, Query(max_length=250, description="The default branch if left out.")] = None,
) -> Any:
    """How the tests of a branch run: every suite, or the command that is set."""
    return branch_tests.branch_tests(shop, who, repository, branch)


@router.put(
    "/{repository}/tests",
    tags=["repositories"],
    response_model=shapes.BranchTestsShape,
    responses=may_end(together(REPOSITORY, LOOKING, {422: ["invalid_input"]})),
)
def set_test_command(shop: Shop, who: Asking, *, repository: Repo, body: shapes.TestCommandChange) -> Any:
    """Set the command that runs the tests of this repository, for agents and projects."""
    return branch_tests.set_test_command(shop, who, repository, body.command)


@router.get(
    "/{repository}/branches",
    tags=["branches"],
    response_model=Page[shapes.BranchShape],
    responses={**may_end(together(REPOSITORY, LOOKING)), **in_pages(shapes.BranchShape)},
)
def list_branches(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    part: Part,
    prefix: Annotated[str, Query(max_length=250)] = "",
    details: Annotated[bool, Query(description="With turns, cost, and commits ahead and behind.")] = False,
) -> Any:
    """Branches by name, with who is working on them."""
    return part.given(
        shapes.BranchShape,
        lambda after, limit: branches.list_branches(
            shop, who, repository, prefix=prefix, details=details, after=after, limit=limit
        ),
    )


@router.post(
    "/{repository}/branches",
    tags=["branches"],
    status_code=201,
    response_model=shapes.BranchMadeShape,
    responses=may_end(together(REPOSITORY, CHANGING)),
)
def create_branch(shop: Shop, who: Asking, *, repository: Repo, body: shapes.NewBranch) -> Any:
    """A new branch at `start`, with its conversation if wanted."""
    if body.conversation:
        return branches.fork_branch(shop, who, repository, body.start, body.name)
    return branches.create_branch(shop, who, repository, body.name, body.start)


@router.get(
    "/{repository}/kept-branches",
    tags=["branches"],
    response_model=shapes.KeptTipsShape,
    responses=may_end(together(REPOSITORY, LOOKING)),
)
def list_kept_branches(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    abandoned: Annotated[bool, Query(description="Only those that no branch reaches any more.")] = False,
) -> Any:
    """Where deleted, rewound and rebased branches were."""
    return {"kept": branches.list_kept(shop, who, repository, limit=limit, abandoned=abandoned)}


@router.get(
    "/{repository}/branches/{branch:whole}",
    tags=["branches"],
    response_model=shapes.BranchShape,
    responses=may_end(together(REPOSITORY, LOOKING)),
)
def show_branch(shop: Shop, who: Asking, *, repository: Repo, branch: BranchName) -> Any:
    """One branch, with its details. Slashes in its name stay as they are."""
    return branches.branch_entry(shop, who, repository, branch, details=True)


@router.patch(
    "/{repository}/branches/{branch:whole}",
    tags=["branches"],
    response_model=shapes.BranchMoveShape,
    responses=may_end(together(REPOSITORY, CHANGING)),
)
def change_branch(shop: Shop, who: Asking, *, repository: Repo, branch: BranchName, body: shapes.BranchChange) -> Any:
    """Rename a branch, or set it back to an earlier commit; what came after stays reachable."""
    match body.name, body.rewind_to:
        case str(name), None:
            return branches.rename_branch(shop, who, repository, branch, name)
        case None, str(commit):
            return branches.rewind_branch(shop, who, repository, branch, commit)
    raise InvalidInput("Say either a new name or where to go back to.", hint="Send `name` or `rewind_to`.")


@router.delete(
    "/{repository}/branches/{branch:whole}",
    tags=["branches"],
    response_model=shapes.BranchMoveShape,
    responses=may_end(together(REPOSITORY, CHANGING)),
)
def delete_branch(shop: Shop, who: Asking, *, repository: Repo, branch: BranchName) -> Any:
    """Delete a branch. Its tip is kept; undo brings it back."""
    return branches.delete_branch(shop, who, repository, branch)
