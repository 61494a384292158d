"""Changes of files by people: saved, deleted, renamed, each one commit that the others are told of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.repositories import write
from forge.app.repositories.catalog import actor_of, author_of, kept_edits, repository
from forge.app.repositories.environment_access import follow_branch

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop
    from forge.git import Repository


@dataclass(frozen=True, slots=True)
class Saved:
    branch: str
    commit: str | None
    """With the change in it; the tip as it was, where nothing had to be changed."""
    etag: str | None
    """Of the file as it is now; None after it was deleted."""
    changed: bool
    operation: str | None = None
    kept_edits: tuple[str, ...] = ()
    """Sentences about uncommitted files in people's checkouts that are based on the older text."""


def save_file(  # noqa: PLR0917
    shop: Workshop,
    who: Who,
    repo_id: str,
    branch: str,
    path: str,
    data: bytes,
    *,
    expected: write.Expected = None,
    executable: bool | None = None,
    message: str | None = None,
    large: bool = False,
) -> Saved:
    """Write a whole file. With `expected`, only over the content with that etag (`NEW`: only where there is none).

    A branch that moved meanwhile is no trouble, unless this very file changed there.
    """
    repo = repository(shop, who, repo_id, "write")
    landed = write.save(
        repo,
        branch,
        path,
        data,
        expected=expected,
        executable=executable,
        message=message,
        actor=actor_of(who),
        author=author_of(repo, who),
        large=large,
    )
    return _saved(shop, repo, landed)


def delete_file(
    shop: Workshop,
    who: Who,
    repo_id: str,
    branch: str,
    path: str,
    *,
    expected: write.Expected = None,
    message: str | None = None,
) -> Saved:
    repo = repository(shop, who, repo_id, "write")
    by, author = actor_of(who), author_of(repo, who)
    landed = write.delete(repo, branch, path, expected=expected, message=message, actor=by, author=author)
    return _saved(shop, repo, landed)


def rename_file(  # noqa: PLR0917
    shop: Workshop,
    who: Who,
    repo_id: str,
    branch: str,
    old: str,
    new: str,
    *,
    expected: write.Expected = None,
    message: str | None = None,
) -> Saved:
    repo = repository(shop, who, repo_id, "write")
    by, author = actor_of(who), author_of(repo, who)
    landed = write.rename(repo, branch, old, new, expected=expected, message=message, actor=by, author=author)
    return _saved(shop, repo, landed)


def delete_folder(
    shop: Workshop, who: Who, repo_id: str, branch: str, path: str, *, message: str | None = None
) -> Saved:
    repo = repository(shop, who, repo_id, "write")
    by, author = actor_of(who), author_of(repo, who)
    landed = write.delete_folder(repo, branch, path, message=message, actor=by, author=author)
    return _saved(shop, repo, landed)


def rename_folder(  # noqa: PLR0917
    shop: Workshop, who: Who, repo_id: str, branch: str, old: str, new: str, *, message: str | None = None
) -> Saved:
    repo = repository(shop, who, repo_id, "write")
    by, author = actor_of(who), author_of(repo, who)
    landed = write.rename_folder(repo, branch, old, new, message=message, actor=by, author=author)
    return _saved(shop, repo, landed)


def _saved(shop: Workshop, repo: Repository, landed: write.Landed) -> Saved:
    if landed.operation is None:
        return Saved(landed.branch, landed.commit, landed.etag, changed=False)
    shop.feed.publish(repo)
    follow_branch(shop, repo, landed.branch)
    made = landed.operation
    return Saved(landed.branch, landed.commit, landed.etag, True, made.id, kept_edits(made))
