"""Places the rows of a commit graph in columns: each line to a commit still to come has one lane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from forge.git.values import CommitId


class Edge(NamedTuple):
    """A line from this row down to the next one, on its way to `parent`."""

    from_lane: int
    to_lane: int
    parent: CommitId


class Lanes:
    """A first parent continues in its child's lane, so a branch keeps its lane; free lanes are used again.

    Two lines to one commit join as soon as both are there. The lane of `reserved` is kept for a commit
    to which no line leads yet.
    """

    def __init__(
        self,
        waiting: Sequence[CommitId | None] = (),
        order: Iterable[CommitId] = (),
        reserved: CommitId | None = None,
    ) -> None:
        self._lanes = list(waiting)
        places = {commit: lane for lane, commit in enumerate(waiting) if commit is not None}
        self._place = {commit: places[commit] for commit in order}
        self.reserved = reserved

    @property
    def waiting(self) -> tuple[CommitId | None, ...]:
        """The commit each lane leads to; None where a lane is free."""
        return tuple(self._lanes)

    @property
    def order(self) -> tuple[CommitId, ...]:
        """The commits that lines lead to, in the order in which their last child came."""
        return tuple(self._place)

    def place(self, commit: CommitId, parents: Iterable[CommitId]) -> tuple[int, tuple[Edge, ...]]:
        """The lane of the next row, and every line that leaves it downwards."""
        lane = self._place.pop(commit, None)
        if lane is None:
            lane = self._free_lane()
        self._lanes[lane] = None
        if commit == self.reserved:
            self.reserved = None
        passing = [(n, to) for n, to in enumerate(self._lanes) if to is not None and to != self.reserved]
        own = list(dict.fromkeys(parents))
        for number, parent in enumerate(own):
            self._lead(lane, parent, is_first=number == 0)
        edges = [Edge(n, self._place[to], to) for n, to in passing]
        edges += [Edge(lane, self._place[parent], parent) for parent in own]
        while self._lanes and self._lanes[-1] is None:
            self._lanes.pop()
        return lane, tuple(edges)

    def _lead(self, lane: int, parent: CommitId, *, is_first: bool) -> None:
        """Give the line to `parent` its lane for the next row."""
        known = self._place.pop(parent, None)
        if known is None:
            known = lane if self._lanes[lane] is None else self._free_lane()
        elif is_first and known > lane:
            # The other line gives way, so that the branch further left runs straight on.
            self._lanes[known] = None
            known = lane
        if parent == self.reserved:
            self.reserved = None
        self._lanes[known] = parent
        self._place[parent] = known

    def _free_lane(self) -> int:
        for lane, commit in enumerate(self._lanes):
            if commit is None:
                return lane
        self._lanes.append(None)
        return len(self._lanes) - 1
