"""Answers that are paid for and not on record yet: each piece is in a file before anybody looks at it.

A written file outlives `kill -9`, so the process that goes on reads the answer there and does not ask again. Nothing
waits for the disk: the record of the step does that, milliseconds later.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_FORGOTTEN_AFTER = 14 * 24 * 3600.0
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Kept:
    """What was received of an answer, and whether it was received to its end."""

    headers: tuple[tuple[str, str], ...]
    pieces: tuple[bytes, ...]
    whole: bool


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

    def begin(self, question: str, headers: Mapping[str, str]) -> Writing:
        """In a new file, always: a process that was thought dead may still write to the old one."""
        try:
            for folder in (self._path.parent.parent, self._path.parent):
                folder.mkdir(exist_ok=True, mode=0o700)
            self.discard()
            fd = os.open(self._path, _FLAGS, 0o600)
        except OSError:
            # The answer is as good without it; a full disk is reported by the record of the step.
            return Writing(None)
        writing = Writing(fd)
        writing.piece(json.dumps({"question": question, "headers": list(headers.items())}).encode())
        return writing

    def read(self, question: str) -> Kept | None:
        try:
            frames = list(_frames(self._path.read_bytes()))
        except FileNotFoundError:
            return None
        if not frames or not frames[0]:
            return None
        first = json.loads(frames[0])
        if first["question"] != question:
            return None
        whole = not frames[-1]
        pieces = tuple(frames[1:-1] if whole else frames[1:])
        return Kept(tuple((name, value) for name, value in first["headers"]), pieces, whole)

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
    """Each piece with its length and its sum before it; a piece of no length is the end."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def piece(self, data: bytes) -> None:
        if data:
            self._write(b"%d %d\n%b" % (len(data), zlib.crc32(data), data))

    def end(self) -> None:
        self._write(b"0 0\n")

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, data: bytes) -> None:
        if self._fd is None:
            return
        try:
            written = os.write(self._fd, data)
        except OSError:
            written = -1
        # What does not fit leaves a file without an end, which is no answer.
        if written != len(data):
            self.close()


def opened_page() -> Page | None:
    return _opened.get()


_opened: ContextVar[Page | None] = ContextVar("forge_page", default=None)


_HEAD = re.compile(rb"([0-9]{1,9}) ([0-9]{1,10})\n")


def _frames(data: bytes) -> Iterator[bytes]:
    """The whole ones: a process may have died while it wrote the last, and a power cut may have left anything."""
    place = 0
    while head := _HEAD.match(data, place):
        place = head.end() + int(head[1])
        frame = data[head.end() : place]
        if place > len(data) or zlib.crc32(frame) != int(head[2]):
            return
        yield frame
