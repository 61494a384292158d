"""Where two histories meet: commits that both have and that are not older than another such commit."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.errors import RevisionMissing
from forge.git.values import CommitId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

# Beyond this many commits git itself is faster, with its commit-graph file.
_NEAR = 2_000

_ONE, _OTHER, _STALE = 1, 2, 4
_BOTH = _ONE | _OTHER

_Node = tuple[int, tuple[CommitId, ...]]


@dataclass(frozen=True, slots=True)
class Meeting:
    """How two commits are related."""

    bases: tuple[CommitId, ...]
    only_one: frozenset[CommitId]
    """Commits of the first history that the second lacks; with clocks that ran backwards, perhaps a few more."""


def merge_bases(objects: Objects, one: CommitId, other: CommitId) -> tuple[CommitId, ...]:
    """The best common ancestors: none for unrelated histories, several for criss-cross merges."""
    return meeting(History(objects), one, other).bases


def meeting(history: History, one: CommitId, other: CommitId) -> Meeting:
    painted = _painted(history, one, other)
    if painted is None or len(painted.bases) > 1:
        git = history.objects.git
        # Exit code 1 says that there is none.
        bases = git.text("merge-base", "--all", one, other, ok=(0, 1)).split()
        only = git.text("rev-list", one, f"^{other}").split() if painted is None else painted.only_one
        return Meeting(tuple(CommitId(b) for b in bases), frozenset(CommitId(c) for c in only))
    return painted


class History:
    """Parents and dates of commits, cut where a shallow clone ends."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._nodes: dict[CommitId, _Node | None] = {}
        try:
            self._cut = frozenset((objects.common_dir / "shallow").read_text().split())
        except FileNotFoundError:
            self._cut = frozenset()

    def node(self, commit: CommitId) -> _Node | None:
        """Date and parents; None for a commit that was never fetched."""
        known = self._nodes.get(commit)
        if known is not None:
            return known
        try:
            found = self.objects.commit(commit)
        except RevisionMissing:
            node = None
        else:
            node = (found.committer.time, () if commit in self._cut else found.parents)
        self._nodes[commit] = node
        return node


def _painted(history: History, one: CommitId, other: CommitId) -> Meeting | None:
    """Paint both histories downwards, newest first, until only commits below a meeting point are left."""
    if one == other:
        return Meeting((one,), frozenset())
    colours = {one: _ONE, other: _OTHER}
    queue: list[tuple[int, int, CommitId]] = []
    fresh: set[CommitId] = set()
    met: list[CommitId] = []
    visits = 0

    def put(commit: CommitId) -> None:
        node = history.node(commit)
        if node is not None:
            heapq.heappush(queue, (-node[0], len(colours), commit))
            if not colours[commit] & _STALE:
                fresh.add(commit)

    put(one)
    put(other)
    while fresh:
        commit = heapq.heappop(queue)[2]
        fresh.discard(commit)
        visits += 1
        if visits > _NEAR:
            return None
        colour = colours[commit]
        if colour == _BOTH:
            met.append(commit)
            colour |= _STALE
        node = history.node(commit)
        for parent in node[1] if node else ():
            had = colours.get(parent, 0)
            if had | colour != had:
                colours[parent] = had | colour
                if colour & _STALE:
                    fresh.discard(parent)
                put(parent)
    bases = tuple(dict.fromkeys(c for c in met if not colours[c] & _STALE))
    return Meeting(bases, frozenset(c for c, colour in colours.items() if colour == _ONE))
