"""What the operation log says so far: where it left each ref, and what began without a word on how it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.refs.operations.operation import Claim, Operation, RefMove
from forge.git.refs.operations.records import moves_that_happened, operation_in, record_of
from forge.git.values import ActorKind, CommitId

if TYPE_CHECKING:
    from forge.git.refs.operations.journal import Record

# A dead process may have left a lock behind; how many of them are remembered for that.
_REMEMBERED_DEATHS = 64
HEADS = "refs/heads/"


@dataclass(slots=True)
class Begun:
    operation: Operation
    mark: str
    order: int
    continued: set[str]
    """Refs that a later operation took over where this one left them, so they did move."""
    repeated: set[str]
    """Refs that a later operation moved from the same place to the same place, so this one had not moved them."""

    def claim(self, move: RefMove) -> Claim:
        return Claim(self.mark, self.operation.time, move.after)

    def hear(self, later: RefMove) -> None:
        """What became known of a later move; the first one of each ref tells."""
        known = self.continued | self.repeated
        for move in self.operation.moves:
            if move.ref == later.ref and move.ref not in known:
                if move == later:
                    self.repeated.add(move.ref)
                elif move.after == later.before:
                    self.continued.add(move.ref)


class Ledger:
    """What the log says so far: where each ref was left, and what began without an end of its own."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[int, CommitId | None]] = {}
        self.open: dict[str, Begun] = {}
        self.died: deque[Begun] = deque(maxlen=_REMEMBERED_DEATHS)
        self.knows_all = False
        """Whether every branch was looked at once: one that nobody recorded since was made by somebody else."""
        self._order = 0

    def take(self, record: Record) -> None:
        if "seen" in record:
            self.seen = {ref: (0, at) for ref, at in record["seen"].items()}
            self.knows_all = record.get("all") is True
            for begun in record["open"]:
                self.take(begun)
        elif "branches" in record:
            self.knows_all = True
            self.seen = {ref: (0, at) for ref, at in record["branches"].items()} | self.seen
        elif "id" in record:
            self._order += 1
            operation = operation_in(record)
            if operation.actor.kind is ActorKind.EXTERNAL:
                self._apply(self._order, operation.moves)
            else:
                self.open[operation.id] = Begun(operation, record["by"], self._order, set(), set())
        elif "end" in record:
            ended = self.open.pop(record["end"], None)
            if ended is not None:
                if record.get("died"):
                    self.died.append(ended)
                self._apply(ended.order, moves_that_happened(ended.operation, record))

    def explains(self, ref: str, at: CommitId | None) -> bool:
        """Whether `ref` may stand at `at` without somebody else's doing."""
        known = ref in self.seen or (self.knows_all and ref.startswith(HEADS))
        return (
            not known
            or self.place(ref) == at
            or any((m.ref, m.after) == (ref, at) for begun in self.open.values() for m in begun.operation.moves)
        )

    def place(self, ref: str) -> CommitId | None:
        """Where the log left it; None: nowhere, or nothing is known of it."""
        return self.seen[ref][1] if ref in self.seen else None

    def summary(self) -> Record:
        return {
            "seen": {ref: at for ref, (_, at) in self.seen.items()},
            "open": [record_of(begun.operation, begun.mark) for begun in self.open.values()],
        } | ({"all": True} if self.knows_all else {})

    def _apply(self, order: int, moves: Iterable[RefMove]) -> None:
        for move in moves:
            # Two processes may report in another order than they moved the ref; they began in the right one.
            if self.seen.get(move.ref, (-1, None))[0] < order:
                self.seen[move.ref] = (order, move.after)
            for begun in self.open.values():
                if begun.order < order:
                    begun.hear(move)
