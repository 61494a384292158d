"""The operation log: every move of a ref that Forge makes, and those of others that it notices.

One JSON line per operation, on the disk before the ref moves; a second line says how it ended. An operation
whose process died in between is judged by where the refs stand. The file is renamed when it grows large,
and the next one begins with where every ref was last seen.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.git import disk
from forge.git.checkout import CheckoutUpdate
from forge.git.process import mark_of_this_process
from forge.git.values import Actor, ActorKind, CommitId

_SEGMENT_BYTES = 4 << 20


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


Tip = Callable[[str], CommitId | None]


class OperationLog:
    def __init__(self, folder: Path, tip: Tip) -> None:
        self._folder = folder
        self._file = folder / "operations.jsonl"
        self._tip = tip
        self._read_to = (0, 0)
        self._seen: dict[str, CommitId | None] = {}

    def begin(self, actor: Actor, reason: str, moves: Iterable[RefMove], *, undoes: str | None = None) -> Operation:
        """Record what is about to happen, durably. Moves by others since the last look are recorded first."""
        operation = _new(actor, reason, tuple(moves), undoes)
        with disk.reporting():
            self._folder.mkdir(parents=True, exist_ok=True)
            with disk.locked(self._folder / "operations.lock"):
                self._read_new()
                before = {m.ref: m.before for m in operation.moves}
                outside = self._unexplained(before)
                lines = [_line(_new(_EXTERNAL, "moved outside Forge", outside, None))] if outside else []
                self._append([*lines, _line(operation)], sync=True)
        return operation

    def end(self, operation: Operation, *, happened: bool) -> None:
        with disk.reporting(), disk.locked(self._folder / "operations.lock"):
            # Not synced: after a crash the refs themselves tell whether it happened.
            self._append([json.dumps({"end": operation.id, "happened": happened})], sync=False)

    def notice(self) -> Operation | None:
        """Record moves that others made of refs Forge has moved before."""
        if not self._file.exists():
            return None
        with disk.reporting(), disk.locked(self._folder / "operations.lock"):
            self._read_new()
            outside = self._unexplained({ref: self._tip(ref) for ref in self._seen})
            if not outside:
                return None
            operation = _new(_EXTERNAL, "moved outside Forge", outside, None)
            self._append([_line(operation)], sync=True)
        return operation

    def unfinished(self, ref: str) -> Claim | None:
        """Who said last that it would move `ref`, if nothing says how that ended."""
        ended: set[str] = set()
        for record in self._records_backwards():
            if "end" in record:
                ended.add(record["end"])
            elif "moves" in record and "by" in record:
                for name, _, after in record["moves"]:
                    if name == ref:
                        claim = Claim(record["by"], record["time"], after)
                        return None if record["id"] in ended else claim
        return None

    def newest_first(self) -> Iterator[Operation]:
        """Operations that happened, the last one first."""
        ended: dict[str, bool] = {}
        later_before: set[tuple[str, CommitId | None]] = set()
        for record in self._records_backwards():
            if "end" in record:
                ended[record["end"]] = bool(record["happened"])
            elif "moves" in record:
                operation = _operation(record)
                if ended.get(operation.id, True) and (
                    operation.id in ended or self._took_effect(operation, later_before)
                ):
                    later_before |= {(m.ref, m.before) for m in operation.moves}
                    yield operation

    def _took_effect(self, operation: Operation, later_before: set[tuple[str, CommitId | None]]) -> bool:
        return operation.actor.kind == ActorKind.EXTERNAL or all(
            self._tip(m.ref) == m.after or (m.ref, m.after) in later_before for m in operation.moves
        )

    def _unexplained(self, now: Mapping[str, CommitId | None]) -> tuple[RefMove, ...]:
        return tuple(
            RefMove(ref, self._seen[ref], at) for ref, at in now.items() if ref in self._seen and self._seen[ref] != at
        )

    def _append(self, lines: list[str], *, sync: bool) -> None:
        self._rotate_when_large()
        new = not self._file.exists()
        fd = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(fd).st_size
            # A crash may have left half a line; it must not swallow ours.
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            data = (b"\n" if torn else b"") + "".join(f"{line}\n" for line in lines).encode()
            if os.write(fd, data) != len(data):
                os.ftruncate(fd, size)
                raise OSError(28, "No space left on device")
            if sync:
                os.fdatasync(fd)
        finally:
            os.close(fd)
        if new:
            disk.sync_directory(self._folder)

    def _rotate_when_large(self) -> None:
        try:
            size = self._file.stat().st_size
        except FileNotFoundError:
            return
        if size < _SEGMENT_BYTES:
            return
        self._read_new()
        fresh = self._folder / "operations.next"
        fresh.unlink(missing_ok=True)
        disk.write_synced(fresh, (json.dumps({"seen": self._seen}) + "\n").encode())
        os.rename(self._file, self._folder / f"operations-{time.time_ns():020d}.jsonl")
        os.rename(fresh, self._file)
        disk.sync_directory(self._folder)

    def _read_new(self) -> None:
        """Follow the file from where we read last; another process may have written or renamed it."""
        try:
            with self._file.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                place, offset = self._read_to
                if place != inode:
                    offset, self._seen = 0, {}
                file.seek(offset)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to = (inode, offset + len(whole))
        pending: dict[str, dict[str, CommitId | None]] = {}
        for record in _records(whole):
            if "seen" in record:
                self._seen |= record["seen"]
            elif "moves" in record:
                after = {ref: after for ref, _, after in record["moves"]}
                pending[record["id"]] = {ref: self._seen.get(ref) for ref in after if ref in self._seen}
                self._seen |= after
            elif record.get("happened") is False:
                for ref, earlier in pending.get(record["end"], {}).items():
                    self._seen[ref] = earlier

    def _records_backwards(self) -> Iterator[dict[str, Any]]:
        older = sorted(self._folder.glob("operations-*.jsonl"), reverse=True)
        for path in (self._file, *older):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            yield from reversed(list(_records(data)))


_EXTERNAL = Actor(ActorKind.EXTERNAL, "outside Forge")


def _new(actor: Actor, reason: str, moves: tuple[RefMove, ...], undoes: str | None) -> Operation:
    return Operation(f"{time.time_ns():016x}{secrets.token_hex(3)}", time.time(), actor, reason, moves, undoes)


def _line(operation: Operation) -> str:
    return json.dumps(
        {
            "id": operation.id,
            "time": operation.time,
            "actor": [operation.actor.kind, operation.actor.name],
            "reason": operation.reason,
            "moves": [[m.ref, m.before, m.after] for m in operation.moves],
            "undoes": operation.undoes,
            "by": mark_of_this_process(),
        }
    )


def _operation(record: dict[str, Any]) -> Operation:
    kind, name = record["actor"]
    return Operation(
        record["id"],
        record["time"],
        Actor(ActorKind(kind), name),
        record["reason"],
        tuple(RefMove(ref, before, after) for ref, before, after in record["moves"]),
        record.get("undoes"),
    )


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except ValueError:  # half a line from a crash
            continue
        if isinstance(record, dict):
            yield record
