"""The newest commits that lead to some points, in git's order by date and without starting git, which takes longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import count, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import Commit, CommitId

MOST = 1000
"""Further down git is faster."""


def newest(objects: Objects, tips: Sequence[CommitId], *, skip: int, limit: int) -> Iterator[Commit]:
    """The latest of those that are known comes next; of two at the same second, the one that was met first."""
    return islice(_walked(objects, tips), skip, skip + limit)


def _walked(objects: Objects, tips: Sequence[CommitId]) -> Iterator[Commit]:
    met, seen = count(), set(tips)
    waiting = [(-found.committer.time, next(met), found) for found in map(objects.commit, tips)]
    heapify(waiting)
    while waiting:
        _, _, commit = heappop(waiting)
        yield commit
        for parent in commit.parents:
            if parent not in seen:
                seen.add(parent)
                found = objects.commit(parent)
                heappush(waiting, (-found.committer.time, next(met), found))


def is_whole(objects: Objects) -> bool:
    """Whether every parent is here, which in a shallow clone it is not."""
    return not (objects.common_dir / "shallow").exists()
