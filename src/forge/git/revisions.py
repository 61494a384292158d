"""Points of history as git may be given them: ids that exist, never text that it could take for an option."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pygit2

from forge.git.errors import InvalidRevision, RevisionMissing
from forge.git.objects import Objects
from forge.git.values import CommitId

_ID = re.compile(r"[0-9a-f]{40}")


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
    except (KeyError, pygit2.GitError, ValueError) as e:
        raise _missing(point) from e


def _is_unborn(objects: Objects, point: str) -> bool:
    """Whether `point` is a HEAD whose branch has no commit yet."""
    return point == "HEAD" and bool(objects.handle.head_is_unborn)


def _missing(point: str) -> RevisionMissing:
    return RevisionMissing(
        f"There is no commit {point}.", hint="`forge log` shows commits, `forge branch list` branches."
    )
