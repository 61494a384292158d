"""The operation log read onwards from a position: each operation that happened, once, in the order of their ends."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

from forge.git.refs.operations.journal import parsed
from forge.git.refs.operations.records import moves_that_happened, operation_in, understood
from forge.git.values import ActorKind

if TYPE_CHECKING:
    from forge.git.refs.operations.operation import Operation

_NAME = "operations"
_MARKED = 200
"""Bytes at the end of a line that tell it from any other: each line has an id of its own."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Behind the line that ends at byte `offset` of the segment with that number. Segments count from 1."""

    segment: int
    offset: int
    mark: str = ""
    """Of that line: in another log, another line ends there."""


@dataclass(frozen=True, slots=True)
class LogState:
    """Changes whenever something is appended, and when the log is replaced."""

    inode: int
    size: int


class LogTail:
    """Not for two threads at once. Takes no lock: whoever writes the log does not wait for whoever reads it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / f"{_NAME}.jsonl"
        self._open: dict[str, Operation] = {}
        """What has begun before `_at` and not ended."""
        self._at: LogPosition | None = None

    def state(self) -> LogState | None:
        """None where there is no log. Costs one `stat`."""
        try:
            found = os.stat(self._file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return LogState(found.st_ino, found.st_size)

    def end(self) -> LogPosition:
        with self._newest() as newest:
            size = _whole(newest.file)
            return LogPosition(newest.segment, size, newest.mark(size))

    def beginning(self) -> LogPosition:
        older = self._numbers()
        return LogPosition(older[0] if older else 1, 0)

    def is_of(self, position: LogPosition) -> bool:
        """Whether the log can be the one that the position is from: somebody may have deleted or replaced it."""
        with self._newest() as newest:
            if newest.segment != position.segment:
                return position.segment < newest.segment
            return newest.mark(position.offset) == position.mark

    def read(self, after: LogPosition, limit: int) -> tuple[list[Operation], LogPosition]:
        """At most `limit` operations that ended after the position, and the position behind the last of them."""
        with self._newest() as newest:
            if self._at != after:
                self._open, self._at = {}, LogPosition(after.segment, 0)
            found: list[Operation] = []
            for at, operation in self._operations(newest):
                self._at = at
                if operation is not None and _is_behind(at, after):
                    found.append(operation)
                    if len(found) == limit:
                        break
            return found, self._at

    def _operations(self, newest: _Newest) -> Iterator[tuple[LogPosition, Operation | None]]:
        """Line by line from `_at` on, with the operation that the line ends."""
        assert self._at is not None
        start = self._at
        for segment in range(start.segment, newest.segment + 1):
            offset = start.offset if segment == start.segment else 0
            data = newest.data(offset) if segment == newest.segment else self._older(segment, offset)
            if segment != start.segment:
                yield LogPosition(segment, 0), None
            for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
                offset += len(line)
                yield LogPosition(segment, offset, _mark(line)), self._ended_by(line)

    def _ended_by(self, line: bytes) -> Operation | None:
        record = parsed(line)
        if record is None or not understood(record):
            return None
        if "seen" in record:
            for each in record["open"]:
                begun = operation_in(each)
                self._open.setdefault(begun.id, begun)
        elif "id" in record:
            operation = operation_in(record)
            if operation.actor.kind is ActorKind.EXTERNAL:
                return operation
            self._open[operation.id] = operation
        elif "end" in record and (begun_before := self._open.pop(record["end"], None)) is not None:
            moves = moves_that_happened(begun_before, record)
            return replace(begun_before, moves=moves) if moves else None
        return None

    def _older(self, segment: int, offset: int) -> bytes:
        try:
            with open(self._folder / f"{_NAME}-{segment:08d}.jsonl", "rb") as file:
                file.seek(offset)
                return file.read()
        except FileNotFoundError:  # somebody cleared it away
            return b""

    def _newest(self) -> _Newest:
        """The segment that is written now, with its number; without a file in the moment of a rotation."""
        while True:
            try:
                file = open(self._file, "rb")  # noqa: SIM115 - closed by `_Newest`
            except (FileNotFoundError, NotADirectoryError):
                return _Newest(self._number(), None)
            number, state = self._number(), self.state()
            # Still the same file: none of the segments counted is this one.
            if state is not None and state.inode == os.fstat(file.fileno()).st_ino:
                return _Newest(number, file)
            file.close()

    def _number(self) -> int:
        older = self._numbers()
        return older[-1] + 1 if older else 1

    def _numbers(self) -> list[int]:
        return sorted(int(each.stem.rpartition("-")[2]) for each in self._folder.glob(f"{_NAME}-*.jsonl"))


@dataclass(frozen=True, slots=True)
class _Newest:
    segment: int
    file: BinaryIO | None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.file is not None:
            self.file.close()

    def data(self, offset: int) -> bytes:
        if self.file is None:
            return b""
        self.file.seek(offset)
        return self.file.read()

    def mark(self, offset: int) -> str:
        """Of the line that ends there; none at the beginning."""
        if self.file is None or offset == 0:
            return ""
        start = max(0, offset - _MARKED - 1)
        self.file.seek(start)
        return _mark(self.file.read(offset - start).removesuffix(b"\n").rpartition(b"\n")[2])


def _mark(line: bytes) -> str:
    return hashlib.sha256(line.removesuffix(b"\n")[-_MARKED:]).hexdigest()[:12]


def _whole(file: BinaryIO | None) -> int:
    """Bytes in whole lines: half a line is still being written, or was left by a crash."""
    if file is None:
        return 0
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - 1)
    file.seek(start)
    if size and file.read(1) != b"\n":
        file.seek(0)
        return file.read().rfind(b"\n") + 1
    return size


def _is_behind(at: LogPosition, after: LogPosition) -> bool:
    return (at.segment, at.offset) > (after.segment, after.offset)
