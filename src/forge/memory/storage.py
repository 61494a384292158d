"""Where the files of memory are: in a directory, or as drafts that somebody else will write."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from forge.git.process import disk

FOLDER = ".claude"
LOCK = f"{FOLDER}/.lock"


class Storage(Protocol):
    """Files by their path below a directory. Reading and writing raise OSError."""

    def read(self, path: str) -> bytes | None:
        """None if there is no such file."""

    def write(self, path: str, data: bytes) -> None:
        """Whole and on the disk when it returns, or not at all."""

    def obstacle(self, folder: str) -> OSError | None:
        """Why no file could be written into a folder; None if one could."""

    def locked(self) -> AbstractContextManager[None]:
        """Nobody else writes meanwhile."""


class Directory:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, path: str) -> bytes | None:
        try:
            return self._place(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, path: str, data: bytes) -> None:
        place = self._place(path)
        self._make_folder(place.parent)
        mode = 0o644
        if place.exists():
            # A name can be replaced even where the file may not be written; whoever set that meant it.
            if not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
            mode = place.stat().st_mode & 0o777
        disk.replace_synced(place, data, mode=mode)

    def obstacle(self, folder: str) -> OSError | None:
        try:
            place = self._place(folder)
            self._make_folder(place)
        except OSError as e:
            return e
        return None if os.access(place, os.W_OK) else PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    @contextmanager
    def locked(self) -> Iterator[None]:
        fd = self._lock()
        try:
            if fd is not None:
                fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            if fd is not None:
                os.close(fd)

    def _lock(self) -> int | None:
        """Where no lock file can be made, L2 may still be writable: then the directory itself is locked."""
        try:
            place = self._place(LOCK)
            self._make_folder(place.parent)
            return os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            pass
        try:
            return os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # no directory: nothing can be written, so nothing needs a lock
            return None

    def _place(self, path: str) -> Path:
        """A link within the directory is followed; one that leads out of it is nobody's memory."""
        place = (self._directory / path).resolve()
        if not place.is_relative_to(self._directory.resolve()):
            raise PermissionError(errno.EPERM, "The path leads out of the directory", str(self._directory / path))
        return place

    def _make_folder(self, folder: Path) -> None:
        if not self._directory.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._directory))
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            disk.sync_directory(folder.parent)


class Drafts:
    """Reads through `read` and keeps what is written in `written`, for a caller who commits the files himself.

    The caller holds whatever lock his own writing needs.
    """

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self.written: dict[str, bytes] = {}

    def read(self, path: str) -> bytes | None:
        if path in self.written:
            return self.written[path]
        text = self._read(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    def write(self, path: str, data: bytes) -> None:
        self.written[path] = data

    def obstacle(self, folder: str) -> OSError | None:  # noqa: ARG002 - whoever commits the files finds out
        return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        yield
