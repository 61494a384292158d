"""Summaries kept on disk by blob id, shared by all branches and processes of a repository.

One text file that only grows: `<blob> <kind>⇥<summary>⇥<checksum>` on each line. A line that was cut short or damaged
fails its checksum and is made again, so nothing needs to be synced. A file that grew too large begins anew.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

from forge.git.values import ObjectId

FORMAT = 1
"""Goes up whenever the same file would be summarised differently."""
MOST_BYTES = 256 << 20

Key = tuple[ObjectId, str]
"""Blob id and kind of file: one text reads differently as Markdown and as JSON."""


class SummaryCache:
    """Reads what other processes wrote as soon as something is missing. Not being able to write costs time only."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._path = folder / f"summaries-{FORMAT}.txt"
        self._most_bytes = most_bytes
        self._known: dict[bytes, bytes] = {}
        self._inode = -1
        self._read_to = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> str | None:
        return self.get_all([key]).get(key)

    def get_all(self, keys: list[Key]) -> dict[Key, str]:
        """Those of `keys` that are known."""
        found, missing = self._look_up(keys)
        if missing:
            with self._lock:
                self._refresh()
            # Another thread may have taken in what is new.
            more, _ = self._look_up(missing)
            found |= more
        return found

    def put(self, summaries: Mapping[Key, str]) -> None:
        """Keep summaries, for this process at once and for all others as soon as they are written."""
        if not summaries:
            return
        lines = []
        for key, text in summaries.items():
            head = _head(key)
            body = head + b"\t" + kept(text).encode()
            line = body + b"\t%08x" % crc32(body)
            self._known[head] = line
            lines.append(line)
        try:
            self._append(b"\n".join(lines) + b"\n")
        except OSError:
            # A full or read-only disk: this process keeps them in memory and works on.
            return

    def _look_up(self, keys: list[Key]) -> tuple[dict[Key, str], list[Key]]:
        found: dict[Key, str] = {}
        missing: list[Key] = []
        for key in keys:
            head = _head(key)
            line = self._known.get(head)
            text = None if line is None else _checked(line, head)
            if text is None:
                self._known.pop(head, None)
                missing.append(key)
            else:
                found[key] = text
        return found, missing

    def _append(self, data: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            end = os.fstat(fd).st_size
            if end + len(data) > self._most_bytes:
                os.ftruncate(fd, 0)
                end = 0
            if end and os.pread(fd, 1, end - 1) != b"\n":  # a writer died in the middle of a line
                data = b"\n" + data
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        finally:
            os.close(fd)

    def _refresh(self) -> None:
        """Take in what was written since the last look."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            state = os.fstat(fd)
            if state.st_ino != self._inode or state.st_size < self._read_to:
                self._inode, self._read_to = state.st_ino, 0
            if state.st_size == self._read_to:
                return
            data = _read(fd, self._read_to, min(state.st_size, self._most_bytes))
        except OSError:
            return
        finally:
            os.close(fd)
        whole = data.rfind(b"\n") + 1
        self._read_to += whole
        for line in data[:whole].split(b"\n"):
            self._known[line.partition(b"\t")[0]] = line


def kept(text: str) -> str:
    """A summary as the cache gives it back: whoever makes one sends this, so that all processes send the same."""
    return " ".join(text.split()).encode("utf-8", "replace").decode()


def _read(fd: int, start: int, end: int) -> bytes:
    parts = []
    while start < end:
        part = os.pread(fd, end - start, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _head(key: Key) -> bytes:
    return f"{key[0]} {key[1]}".encode()


def _checked(line: bytes, head: bytes) -> str | None:
    body, tab, checksum = line.rpartition(b"\t")
    if not tab or not body.startswith(head + b"\t") or checksum != b"%08x" % crc32(body):
        return None
    return body[len(head) + 1 :].decode("utf-8", "replace")
