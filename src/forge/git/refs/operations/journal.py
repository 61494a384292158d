"""A file of JSON lines that only grows: whole lines, on the disk when asked for, continued in numbered segments."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from forge.git.process import disk

Record = dict[str, Any]
_SEGMENT_BYTES = 4 << 20


class Journal:
    """Callers hold a lock while they write or follow. `summary` is what a new segment has to begin with."""

    def __init__(self, folder: Path, name: str, summary: Callable[[], Record]) -> None:
        self._folder = folder
        self._name = name
        self._file = folder / f"{name}.jsonl"
        self._next = folder / f"{name}.next"
        self._summary = summary
        self._read_to = (0, 0)

    def append(self, records: list[Record]) -> None:
        """Whole lines or nothing. They survive this process, and a power cut once `sync` was called."""
        self._rotate_when_large()
        fd = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(fd).st_size
            try:
                _write_lines(fd, size, records)
            except OSError:
                os.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)
        if size == 0:
            disk.sync_directory(self._folder)

    def sync(self) -> None:
        """Wait until the disk has every line so far. Needs no lock: a segment that was ended meanwhile is synced."""
        fd = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fdatasync(fd)
        finally:
            os.close(fd)

    def new_records(self) -> tuple[bool, list[Record]]:
        """What was written since the last look, and whether it is the beginning of a segment."""
        try:
            fd = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return (True, self.new_records()[1]) if self._finished_rotation() else (False, [])
        with open(fd, "rb", buffering=0) as file:
            found = os.fstat(fd)
            place, offset = self._read_to
            if place != found.st_ino or found.st_size < offset:  # another file, or somebody emptied this one
                offset = 0
            file.seek(offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to = (found.st_ino, offset + len(whole))
        return offset == 0, list(_records(whole))

    def backwards(self) -> Iterator[Record]:
        """Every record of every segment, the last one first."""
        for path in (self._file, *reversed(self._older())):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            yield from reversed(list(_records(data)))

    def _rotate_when_large(self) -> None:
        try:
            size = os.stat(self._file).st_size
        except FileNotFoundError:
            return
        if size < _SEGMENT_BYTES:
            return
        self.sync()
        self._next.unlink(missing_ok=True)
        disk.write_synced(self._next, _line(self._summary()))
        # Numbers, not times: a clock set back must not change the order.
        older = self._older()
        last = int(older[-1].stem.rpartition("-")[2]) if older else 0
        os.rename(self._file, self._folder / f"{self._name}-{last + 1:08d}.jsonl")
        self._finished_rotation()

    def _finished_rotation(self) -> bool:
        """Also after a crash between the two renames: then the next segment is whole and only lacks its name."""
        try:
            os.rename(self._next, self._file)
        except FileNotFoundError:
            return False
        disk.sync_directory(self._folder)
        return True

    def _older(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._name}-*.jsonl"))


def _write_lines(fd: int, size: int, records: list[Record]) -> None:
    # A crash may have left half a line; it must not swallow ours.
    torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
    data = (b"\n" if torn else b"") + b"".join(map(_line, records))
    if os.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _line(record: Record) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _records(data: bytes) -> Iterator[Record]:
    yield from (record for record in map(parsed, data.splitlines()) if record is not None)


def parsed(line: bytes) -> Record | None:
    """None where it is half a line from a crash, or damaged."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
