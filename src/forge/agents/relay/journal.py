"""Answers that are paid for and not on record yet: each piece is in a file before anybody looks at it.

A written file outlives `kill -9`, so the process that continues reads the answer there and does not ask again. A relay
holds a lock on what it writes: as long as it is held, the rest of the answer is still to come. Nothing waits for the
disk: the record of the step does that, milliseconds later.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from urllib.parse import quote

_FORGOTTEN_AFTER = 14 * 24 * 3600.0
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC


Headers = Iterable[tuple[bytes, bytes]]


class Journal:
    """A folder that only its owner can read: a folder for each run, a file for each step that asks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def page(self, run: str, step: str) -> Page:
        return Page(self._run(run) / quote(step, safe=""))

    def forget(self, run: str) -> None:
        """The run has ended. What is very old is of runs that ended on another machine."""
        shutil.rmtree(self._run(run), ignore_errors=True)
        with suppress(FileNotFoundError), os.scandir(self._folder) as found:
            for entry in found:
                with suppress(FileNotFoundError):
                    if entry.stat().st_mtime < time.time() - _FORGOTTEN_AFTER:
                        shutil.rmtree(entry.path, ignore_errors=True)

    def _run(self, run: str) -> Path:
        return self._folder / f"run-{quote(run, safe='')}"


class Page:
    """The place of one answer. `question` is a digest of what was asked: to other words it is no answer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.only_kept = False
        """Whether to take the answer from here or not at all."""

    @property
    def is_begun(self) -> bool:
        return self._path.exists()

    @property
    def is_written(self) -> bool:
        """Whether a process that lives is receiving the answer."""
        reading = self.read()
        if reading is None:
            return False
        try:
            return reading.is_written
        finally:
            reading.close()

    def begin(self, question: str, *, locked: bool = False) -> Writing:
        """In a new file, always: a process that was thought dead may still write to the old one."""
        fd = None
        try:
            for folder in (self._path.parent.parent, self._path.parent):
                folder.mkdir(exist_ok=True, mode=0o700)
            self.discard()
            fd = os.open(self._path, _FLAGS, 0o600)
            if locked:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            # The answer is as good without it; a full disk is reported by the record of the step.
            if fd is not None:
                os.close(fd)
            return Writing(None)
        writing = Writing(fd)
        writing.piece(json.dumps({"question": question}).encode())
        return writing

    def read(self) -> Reading | None:
        try:
            return Reading(os.open(self._path, os.O_RDONLY | os.O_CLOEXEC))
        except FileNotFoundError:
            return None

    def discard(self) -> None:
        self._path.unlink(missing_ok=True)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """What is asked inside is kept here."""
        token = _opened.set(self)
        try:
            yield
        finally:
            _opened.reset(token)

    @contextmanager
    def read_only(self) -> Iterator[None]:
        self.only_kept = True
        try:
            yield
        finally:
            self.only_kept = False


class Writing:
    """Each piece with its length and its sum before it; a piece of no length is the end.

    The first one tells what was asked, the second one how the answer begins.
    """

    def __init__(self, fd: int | None) -> None:
        self.fd = fd

    @property
    def is_wanted(self) -> bool:
        """Whether anybody can still read it: the file goes when its run has ended, or when it is asked anew."""
        return self.fd is not None and os.fstat(self.fd).st_nlink > 0

    def head(self, status: int, headers: Headers) -> None:
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        self.piece(json.dumps({"status": status, "headers": pairs}).encode())

    def piece(self, data: bytes) -> None:
        if data:
            self._write(b"%d %d\n%b" % (len(data), zlib.crc32(data), data))

    def end(self) -> None:
        self._write(b"0 0\n")

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def _write(self, data: bytes) -> None:
        if self.fd is None:
            return
        try:
            written = os.write(self.fd, data)
        except OSError:
            written = -1
        # What does not fit leaves a file without an end, which is no answer.
        if written != len(data):
            self.close()


class Reading:
    """A page from its beginning, also while another process writes it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._data = b""

    @property
    def is_written(self) -> bool:
        """Whether who writes it is alive."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False  # a file system without locks
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    def pieces(self) -> list[bytes]:
        """Those that are whole and were not given before; an empty one is the end.

        A process may have died while it wrote the last one, and a power cut may have left anything.
        """
        while data := os.read(self._fd, 1 << 20):
            self._data += data
        found = []
        place = 0
        while head := _HEAD.match(self._data, place):
            end = head.end() + int(head[1])
            piece = self._data[head.end() : end]
            if end > len(self._data) or zlib.crc32(piece) != int(head[2]):
                break
            found.append(piece)
            place = end
        self._data = self._data[place:]
        return found

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def opened_page() -> Page | None:
    return _opened.get()


_opened: ContextVar[Page | None] = ContextVar("forge_page", default=None)


_HEAD = re.compile(rb"([0-9]{1,9}) ([0-9]{1,10})\n")
