"""The operation log: every move of a ref that Forge makes, and those of others that it notices.

One line per operation, on the disk before the ref moves; a second line says how it ended. An operation whose
process died in between is judged by where the refs stand, and the verdict is written down.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from forge.errors import Conflict
from forge.git import disk, process
from forge.git.checkout import CheckoutUpdate
from forge.git.errors import BranchExists, BranchMoved, StorageFailed
from forge.git.journal import Journal, Record
from forge.git.values import Actor, ActorKind, CommitId


@dataclass(frozen=True, slots=True)
class RefMove:
    """None before: the ref is made. None after: it is removed."""

    ref: str
    before: CommitId | None
    after: CommitId | None


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    time: float
    actor: Actor
    reason: str
    moves: tuple[RefMove, ...]
    undoes: str | None = None
    checkouts: tuple[CheckoutUpdate, ...] = ()
    """What became of the person's own checkouts; known only to the caller that made the operation."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A process's word that it was about to move a ref."""

    mark: str
    time: float
    after: CommitId | None


# A dead process may have left a lock behind; how many of them are remembered for that.
_REMEMBERED_DEATHS = 64
_ID = re.compile("[0-9a-f]{40}")

Tip = Callable[[str], CommitId | None]
WasAt = Callable[[str, CommitId], bool]


class OperationLog:
    def __init__(self, folder: Path, tip: Tip, was_at: WasAt) -> None:
        self._folder = folder
        self._lock = folder / "operations.lock"
        self._tip = tip
        self._was_at = was_at
        self._told = _Told()
        self._journal = Journal(folder, "operations", self._summary)

    def begin(self, actor: Actor, reason: str, moves: Iterable[RefMove], *, undoes: str | None = None) -> Operation:
        """Record what is about to happen, durably. Moves by others since the last look are recorded first."""
        operation = _new(actor, reason, tuple(moves), undoes)
        with self._following():
            # What is kept comes first in a list of moves; the branch it is kept for tells better what is wrong.
            for move in reversed(operation.moves):
                if self._tip(move.ref) != move.before:
                    raise moved(move)
            now = {move.ref: move.before for move in operation.moves}
            self._settle(now)
            self._journal.append([*self._outside(now), _record(operation)])
        self._make_durable(operation)
        return operation

    def end(self, operation: Operation, happened: Sequence[RefMove]) -> None:
        """Not synced, and no failure: without this line the refs themselves tell what happened."""
        with suppress(StorageFailed), self._alone():
            self._journal.append([_verdict(operation, happened)])

    def notice(self) -> None:
        """Record moves that others made of refs Forge has moved before, and how work of dead processes ended."""
        if not self._folder.exists():
            return
        # A repository on a read-only disk can still tell what it knows.
        with suppress(StorageFailed), self._following():
            self._settle(None)
            outside = self._outside({ref: self._tip(ref) for ref in self._told.seen})
            if outside:
                self._journal.append(outside)
                self._journal.sync()

    def claims(self, ref: str) -> list[Claim]:
        """What processes meant to do with `ref` that never said how it ended."""
        with self._following():
            begun = [*self._told.open.values(), *self._told.died]
            return [b.claim(move) for b in begun for move in b.operation.moves if move.ref == ref]

    def claims_of_the_dead(self) -> list[tuple[str, Claim]]:
        """What processes were about to do when they died, by ref."""
        with self._following():
            dead = [*self._told.died, *(b for b in self._told.open.values() if process.died(b.mark))]
            return [(move.ref, begun.claim(move)) for begun in dead for move in begun.operation.moves]

    def newest_first(self) -> Iterator[Operation]:
        """Operations that happened, the last one first."""
        ended: dict[str, Record] = {}
        later_before: set[tuple[str, CommitId | None]] = set()
        next_move: dict[str, RefMove] = {}
        for record in filter(_understood, self._journal.backwards()):
            if "end" in record:
                ended[record["end"]] = record
            elif "id" in record:
                operation = _operation(record)
                end = ended.get(operation.id)
                if end is None and operation.actor.kind is not ActorKind.EXTERNAL:
                    # The very same move made next was this one tried again: it had been refused, without a word left.
                    tried = [m for m in operation.moves if next_move.get(m.ref) != m]
                    moves = tuple(m for m in tried if (m.ref, m.after) in later_before or self._reached(m))
                else:
                    moves = operation.moves if end is None else _moves_that_happened(operation, end)
                if moves:
                    later_before |= {(m.ref, m.before) for m in moves}
                    next_move |= {m.ref: m for m in moves}
                    yield replace(operation, moves=moves)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with disk.reporting(), disk.locked(self._lock):
            yield

    @contextmanager
    def _following(self) -> Iterator[None]:
        with self._alone():
            self._follow()
            yield

    def _make_durable(self, operation: Operation) -> None:
        """Without the lock, so that others need not wait for our disk. They may have written behind our record
        meanwhile: when it cannot be synced, it is not cut off but called off."""
        try:
            with disk.reporting():
                self._journal.sync()
        except StorageFailed:
            self.end(operation, ())
            raise

    def _summary(self) -> Record:
        self._follow()
        return self._told.summary()

    def _follow(self) -> None:
        beginning, records = self._journal.new_records()
        if beginning:
            self._told = _Told()
        for record in filter(_understood, records):
            self._told.take(record)

    def _settle(self, refs: Mapping[str, object] | None) -> None:
        """Write down how operations of dead processes ended: those that touch `refs`, or all."""
        ends: list[Record] = []
        for begun in self._told.open.values():
            touched = refs is None or any(move.ref in refs for move in begun.operation.moves)
            if touched and process.died(begun.mark):
                tried = [m for m in begun.operation.moves if m.ref not in begun.repeated]
                moves = [m for m in tried if m.ref in begun.continued or self._reached(m)]
                ends.append(_verdict(begun.operation, moves) | {"died": True})
        if ends:
            self._journal.append(ends)
            self._follow()

    def _reached(self, move: RefMove) -> bool:
        now = self._tip(move.ref)
        if now in (move.after, move.before):
            return now == move.after
        return move.after is not None and self._was_at(move.ref, move.after)

    def _outside(self, now: Mapping[str, CommitId | None]) -> list[Record]:
        told = self._told
        moves = [RefMove(ref, told.seen[ref][1], at) for ref, at in now.items() if not told.explains(ref, at)]
        return [_record(_new(_EXTERNAL, "moved outside Forge", tuple(moves), None))] if moves else []


@dataclass(slots=True)
class _Begun:
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


class _Told:
    """What the log says so far: where each ref was left, and what began without an end of its own."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[int, CommitId | None]] = {}
        self.open: dict[str, _Begun] = {}
        self.died: deque[_Begun] = deque(maxlen=_REMEMBERED_DEATHS)
        self._order = 0

    def take(self, record: Record) -> None:
        if "seen" in record:
            self.seen = {ref: (0, at) for ref, at in record["seen"].items()}
            for begun in record["open"]:
                self.take(begun)
        elif "id" in record:
            self._order += 1
            operation = _operation(record)
            if operation.actor.kind is ActorKind.EXTERNAL:
                self._apply(self._order, operation.moves)
            else:
                self.open[operation.id] = _Begun(operation, record["by"], self._order, set(), set())
        elif "end" in record:
            ended = self.open.pop(record["end"], None)
            if ended is not None:
                if record.get("died"):
                    self.died.append(ended)
                self._apply(ended.order, _moves_that_happened(ended.operation, record))

    def explains(self, ref: str, at: CommitId | None) -> bool:
        """Whether `ref` may stand at `at` without somebody else's doing."""
        return (
            ref not in self.seen
            or self.seen[ref][1] == at
            or any((m.ref, m.after) == (ref, at) for begun in self.open.values() for m in begun.operation.moves)
        )

    def summary(self) -> Record:
        return {
            "seen": {ref: at for ref, (_, at) in self.seen.items()},
            "open": [_record(begun.operation, begun.mark) for begun in self.open.values()],
        }

    def _apply(self, order: int, moves: Iterable[RefMove]) -> None:
        for move in moves:
            # Two processes may report in another order than they moved the ref; they began in the right one.
            if self.seen.get(move.ref, (-1, None))[0] < order:
                self.seen[move.ref] = (order, move.after)
            for begun in self.open.values():
                if begun.order < order:
                    begun.hear(move)


_EXTERNAL = Actor(ActorKind.EXTERNAL, "outside Forge")


def moved(move: RefMove) -> Conflict:
    """The error for a move whose ref is not where the caller read it."""
    name = move.ref.removeprefix("refs/heads/").removeprefix("refs/forge/kept/")
    if move.before is None and move.ref.startswith("refs/heads/"):
        return BranchExists(f"{name} exists already.", hint="Choose another name, or open the existing branch.")
    return BranchMoved(
        f"{name} has moved since it was read; nothing was overwritten.",
        hint="Read the branch again and repeat the change on its new tip.",
    )


def _new(actor: Actor, reason: str, moves: tuple[RefMove, ...], undoes: str | None) -> Operation:
    return Operation(f"{time.time_ns():016x}{secrets.token_hex(3)}", time.time(), actor, reason, moves, undoes)


def _record(operation: Operation, mark: str | None = None) -> Record:
    return {
        "id": operation.id,
        "time": operation.time,
        "actor": [operation.actor.kind, operation.actor.name],
        "reason": operation.reason,
        "moves": [[m.ref, m.before, m.after] for m in operation.moves],
        "undoes": operation.undoes,
        "by": mark or process.mark_of_this_process(),
    }


def _operation(record: Record) -> Operation:
    kind, name = record["actor"]
    return Operation(
        record["id"],
        record["time"],
        Actor(ActorKind(kind), name),
        record["reason"],
        tuple(RefMove(ref, before, after) for ref, before, after in record["moves"]),
        record.get("undoes"),
    )


def _understood(record: Record) -> bool:
    """Whether a line is one of ours and whole: a disk or an editor may have damaged it."""
    match record:
        case {"id": str(), "time": int() | float(), "actor": [str(kind), str()], "reason": str(), "by": str()}:
            moves, undoes = record.get("moves"), record.get("undoes")
            known = kind in set(ActorKind) and isinstance(undoes, str | None)
            return known and isinstance(moves, list) and all(map(_is_move, moves))
        case {"end": str(), "happened": bool()}:
            return isinstance(record.get("only", []), list)
        case {"seen": dict(seen), "open": list(begun)}:
            return all(map(_is_place, seen.values())) and all(isinstance(b, dict) and _understood(b) for b in begun)
    return False


def _is_move(move: object) -> bool:
    match move:
        case [str(), before, after]:
            return _is_place(before) and _is_place(after)
    return False


def _is_place(at: object) -> bool:
    return at is None or (isinstance(at, str) and _ID.fullmatch(at) is not None)


def _verdict(operation: Operation, moves: Sequence[RefMove]) -> Record:
    """A crash in the middle of several moves leaves some of them done; these are what the operation was."""
    partly = 0 < len(moves) < len(operation.moves)
    only = {"only": [m.ref for m in moves]} if partly else {}
    return {"end": operation.id, "happened": bool(moves)} | only


def _moves_that_happened(operation: Operation, end: Record) -> tuple[RefMove, ...]:
    if not end["happened"]:
        return ()
    return tuple(m for m in operation.moves if m.ref in end.get("only", [m.ref]))
