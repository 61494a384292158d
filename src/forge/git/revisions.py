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
    included = dict.fromkeys(found for point in start if (found := commit_at(objects, point)))
    excluded = dict.fromkeys(found for point in exclude if (found := commit_at(objects, point)))
    return [*included, *(f"^{point}" for point in excluded)] if included else []


def commit_at(objects: Objects, point: str) -> CommitId | None:
    """The commit at an id or a full ref name; None for a HEAD whose branch has no commit yet."""
    if _ID.fullmatch(point):
        if not objects.has(CommitId(point)):
            raise _missing(point)
        return CommitId(point)
    if point != "HEAD" and not (point.startswith("refs/") and pygit2.reference_is_valid_name(point)):
        raise InvalidRevision(f"{point!r} is neither an id nor a full ref name.", hint="Resolve it to an id first.")
    try:
        return CommitId(str(objects.handle.lookup_reference(point).peel(pygit2.Commit).id))
    except (KeyError, pygit2.GitError, ValueError) as e:
        if point == "HEAD" and objects.handle.head_is_unborn:
            return None
        raise _missing(point) from e


def _missing(point: str) -> RevisionMissing:
    return RevisionMissing(
        f"There is no commit {point}.", hint="`forge log` shows commits, `forge branch list` branches."
    )
