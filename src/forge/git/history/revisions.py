"""Points of history: what a person's words for one mean, and how git may be given them, never as an option."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pygit2

from forge.git.errors import BranchMissing, InvalidRevision, RepositoryUnreadable, RevisionMissing
from forge.git.refs.near_names import did_you_mean
from forge.git.values import CommitId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs

_LISTS = "`forge branch list` shows branches, `forge log` commits."
_FSCK = "`git fsck` tells what is missing or damaged."
_ID = re.compile(r"[0-9a-f]{40}")
_ANY_FULL_ID = re.compile("[0-9a-fA-F]{40}")
_REVISION = re.compile("[^\0\ud800-\udfff]{1,1000}")


def resolved(objects: Objects, refs: Refs, rev: str) -> CommitId:
    """The commit that a branch name, tag, id or expression such as `main~2` means."""
    if not isinstance(rev, str) or not _REVISION.fullmatch(rev):
        raise InvalidRevision(f"{str(rev)[:40]!r} does not name a commit.", hint="Name a branch or an id.")
    if (tip := branch_tip(refs, rev)) is not None:
        return tip
    try:
        return CommitId(str(objects.handle.revparse_single(rev).peel(pygit2.Commit).id))
    except KeyError as e:
        if rev == "HEAD":
            raise no_head(refs) from e
        if _ANY_FULL_ID.fullmatch(rev):
            raise RevisionMissing(f"There is no commit {rev} in the repository.", hint=_LISTS) from e
        near = did_you_mean(rev, [name for name, _ in refs.branches()])
        raise RevisionMissing(f"There is no commit or branch {rev}.", hint=near + _LISTS) from e
    except (pygit2.GitError, ValueError, TypeError) as e:
        if rev == "HEAD" or _ANY_FULL_ID.fullmatch(rev):
            raise RepositoryUnreadable(f"{rev} is damaged and cannot be read.", hint=_FSCK) from e
        raise InvalidRevision(f"{rev!r} does not name a commit.", hint="Name a branch or an id.") from e


def no_head(refs: Refs) -> RevisionMissing:
    """HEAD leads to no commit: the repository has none yet, or its branch is gone or new while others are there."""
    others = [name for name, _ in refs.branches()]
    if not others:
        return RevisionMissing("There is no commit here yet.", hint="The first `forge file save` makes one.")
    known = refs.default_branch()
    example = known if known in others else others[0]
    return RevisionMissing(
        f"HEAD names the branch {refs.head_branch()}, which has no commit; other branches have commits.",
        hint=f"Name one of them, such as {example}, or let HEAD name it: `git switch {example}`.",
    )


def tip_of(refs: Refs, branch: str) -> CommitId:
    tip = refs.tip(branch)
    if tip is None and branch == refs.head_branch() and refs.branches():
        raise no_head(refs)
    if tip is None:
        near = did_you_mean(branch, [name for name, _ in refs.branches()])
        raise BranchMissing(f"There is no branch {branch}.", hint=f"{near}`forge branch list` shows what there is.")
    return tip


def branch_tip(refs: Refs, rev: str) -> CommitId | None:
    """The tip of the branch that `rev` is the name of, if it is one."""
    # A branch may be named like a commit, but never stands in for one.
    named = rev != "HEAD" and not _ANY_FULL_ID.fullmatch(rev) and pygit2.reference_is_valid_name(f"refs/heads/{rev}")
    return refs.target(f"refs/heads/{rev}") if named else None


def revisions(objects: Objects, start: Sequence[str], *, exclude: Sequence[str] = ()) -> list[str]:
    """`start` and, marked as excluded, `exclude`, each once; empty if there is nowhere to start."""
    included, excluded = (
        dict.fromkeys(commit_at(objects, point) for point in points if not _is_unborn(objects, point))
        for points in (start, exclude)
    )
    return [*included, *(f"^{point}" for point in excluded)] if included else []


def commit_at(objects: Objects, point: str) -> CommitId:
    """The commit at an id or a full ref name, also through a tag."""
    is_ref = point == "HEAD" or (point.startswith("refs/") and pygit2.reference_is_valid_name(point))
    if not is_ref and not _ID.fullmatch(point):
        raise InvalidRevision(f"{point!r} is neither an id nor a full ref name.", hint="Resolve it to an id first.")
    try:
        found = objects.handle.lookup_reference(point) if is_ref else objects.handle[point]
        return CommitId(str(found.peel(pygit2.Commit).id))
    except (KeyError, ValueError) as e:
        raise _missing(point) from e
    except pygit2.GitError as e:
        raise RepositoryUnreadable(f"{point} is damaged and cannot be read.", hint=_FSCK) from e


def _is_unborn(objects: Objects, point: str) -> bool:
    """Whether `point` is a HEAD whose branch has no commit yet."""
    return point == "HEAD" and bool(objects.handle.head_is_unborn)


def _missing(point: str) -> RevisionMissing:
    return RevisionMissing(f"There is no commit {point}.", hint=_LISTS)
