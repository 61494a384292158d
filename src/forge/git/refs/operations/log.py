"""The operation log: every move of a ref that Forge makes, and those of others that it notices.

One line per operation, on the disk before the ref moves; a second line says how it ended. An operation whose
process died in between is judged by where the refs stand, and the verdict is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from forge.git.errors import RepositoryUnreadable, StorageFailed
from forge.git.process import disk, liveness
from forge.git.refs.operations.journal import Journal, Record
from forge.git.refs.operations.ledger import HEADS, Ledger
from forge.git.refs.operations.operation import Claim, Operation, RefMove, moved, new_operation, noticed
from forge.git.refs.operations.records import moves_that_happened, operation_in, record_of, understood, verdict
from forge.git.values import Actor, ActorKind, CommitId

Tip = Callable[[str], CommitId | None]
_MOST_BRANCHES = 10_000
"""Each new segment of the log begins with a list of them."""
WasAt = Callable[[str, CommitId], bool]


class OperationLog:
    def __init__(self, folder: Path, tip: Tip, was_at: WasAt) -> None:
        self._folder = folder
        self._lock = folder / "operations.lock"
        self._tip = tip
        self._was_at = was_at
        self._ledger = Ledger()
        self._journal = Journal(folder, "operations", self._summary)

    def begin(self, actor: Actor, reason: str, moves: Iterable[RefMove], *, undoes: str | None = None) -> Operation:
        """Record what is about to happen, durably. Moves by others since the last look are recorded first."""
        operation = new_operation(actor, reason, moves, undoes=undoes)
        with self._following():
            # What is kept comes first in a list of moves; the branch it is kept for tells better what is wrong.
            for move in reversed(operation.moves):
                if self._tip(move.ref) != move.before:
                    raise moved(move)
            now = {move.ref: move.before for move in operation.moves}
            self._settle(now)
            self._journal.append([*self._outside(now), record_of(operation)])
        self._make_durable(operation)
        return operation

    def end(self, operation: Operation, happened: Sequence[RefMove]) -> None:
        """Not synced, and no failure: without this line the refs themselves tell what happened."""
        with suppress(StorageFailed), self._alone():
            self._journal.append([verdict(operation, happened)])

    def notice(self) -> None:
        """Record moves that others made of refs Forge has moved before, and how work of dead processes ended."""
        if not self._folder.exists():
            return
        # A repository on a read-only disk can still tell what it knows.
        with suppress(StorageFailed), self._following():
            self._settle(None)
            outside = self._outside({ref: self._tip(ref) for ref in self._ledger.seen})
            if outside:
                self._journal.append(outside)
                self._journal.sync()

    def notice_branches(self, tips: Callable[[], Mapping[str, CommitId]]) -> bool:
        """The same for every branch; whether all of them are followed. The first look notes where they are.

        `tips` is asked without the lock, so that no one waits for it; what looks strange is read again.
        """
        before = tips()
        if len(before) > _MOST_BRANCHES:
            return False
        with suppress(StorageFailed), self._following():
            self._settle(None)
            heads = [ref for ref in self._ledger.seen if ref.startswith(HEADS)]
            strange = [ref for ref in {*before, *heads} if not self._ledger.explains(ref, before.get(ref))]
            records = self._outside(self._read(sorted(strange)))
            if not self._ledger.knows_all:
                records.append({"branches": {ref: at for ref, at in before.items() if ref not in self._ledger.seen}})
            if records:
                self._journal.append(records)
                self._journal.sync()
        return True

    def claims(self, ref: str) -> list[Claim]:
        """What processes meant to do with `ref` that never said how it ended."""
        with self._following():
            begun = [*self._ledger.open.values(), *self._ledger.died]
            return [b.claim(move) for b in begun for move in b.operation.moves if move.ref == ref]

    def claims_of_the_dead(self) -> list[tuple[str, Claim]]:
        """What processes were about to do when they died, by ref."""
        with self._following():
            dead = [*self._ledger.died, *(b for b in self._ledger.open.values() if liveness.died(b.mark))]
            return [(move.ref, begun.claim(move)) for begun in dead for move in begun.operation.moves]

    def newest_first(self) -> Iterator[Operation]:
        """Operations that happened, the last one first."""
        ended: dict[str, Record] = {}
        later_before: set[tuple[str, CommitId | None]] = set()
        next_move: dict[str, RefMove] = {}
        for record in filter(understood, self._journal.backwards()):
            if "end" in record:
                ended[record["end"]] = record
            elif "id" in record:
                operation = operation_in(record)
                end = ended.get(operation.id)
                if end is None and operation.actor.kind is not ActorKind.EXTERNAL:
                    # The very same move made next was this one tried again: it had been refused, without a word left.
                    tried = [m for m in operation.moves if next_move.get(m.ref) != m]
                    moves = tuple(m for m in tried if (m.ref, m.after) in later_before or self._reached(m))
                else:
                    moves = operation.moves if end is None else moves_that_happened(operation, end)
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
        return self._ledger.summary()

    def _follow(self) -> None:
        beginning, records = self._journal.new_records()
        if beginning:
            self._ledger = Ledger()
        for record in filter(understood, records):
            self._ledger.take(record)

    def _settle(self, refs: Mapping[str, object] | None) -> None:
        """Write down how operations of dead processes ended: those that touch `refs`, or all."""
        ends: list[Record] = []
        for begun in self._ledger.open.values():
            touched = refs is None or any(move.ref in refs for move in begun.operation.moves)
            if touched and liveness.died(begun.mark):
                tried = [m for m in begun.operation.moves if m.ref not in begun.repeated]
                moves = [m for m in tried if m.ref in begun.continued or self._reached(m)]
                ends.append(verdict(begun.operation, moves) | {"died": True})
        if ends:
            self._journal.append(ends)
            self._follow()

    def _reached(self, move: RefMove) -> bool:
        now = self._tip(move.ref)
        if now in (move.after, move.before):
            return now == move.after
        return move.after is not None and self._was_at(move.ref, move.after)

    def _read(self, refs: Iterable[str]) -> dict[str, CommitId | None]:
        """Without those that are damaged: they must not hide the others."""
        found: dict[str, CommitId | None] = {}
        for ref in refs:
            with suppress(RepositoryUnreadable):
                found[ref] = self._tip(ref)
        return found

    def _outside(self, now: Mapping[str, CommitId | None]) -> list[Record]:
        ledger = self._ledger
        moves = [RefMove(ref, ledger.place(ref), at) for ref, at in now.items() if not ledger.explains(ref, at)]
        return [record_of(noticed(moves))] if moves else []
