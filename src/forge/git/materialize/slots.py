"""Where directories are kept: one slot for each branch in use, locked as long as its user lives."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Slot:
    """The directory itself, and beside it, where no command can reach, what is known about it."""

    path: Path

    @property
    def files(self) -> Path:
        return self.path / "files"

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def git_dir(self) -> Path:
        return self.path / "git"

    @property
    def size(self) -> Path:
        return self.path / "size"

    @property
    def ignores_case(self) -> bool:
        """Whether this file system takes names that differ only in case for one."""
        return (self.path / "LOCK").exists()


@contextmanager
def taken(root: Path, repository: Path, key: str) -> Iterator[Slot]:
    """The first slot for `key` that nobody uses. A second user at the same time gets another one, without waiting."""
    digest = hashlib.sha256(f"{repository}\0{key}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = f"{_UNSAFE.sub('-', key)[:_LONGEST].strip('.-') or 'branch'}-{digest}"
    path, lock = next(
        (path, lock)
        for path in (root / (name if number == 1 else f"{name}-{number}") for number in count(1))
        if (lock := _locked_new(path)) is not None
    )
    try:
        yield Slot(path)
    finally:
        os.close(lock)


def _locked_new(path: Path) -> int | None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return locked(path)


def locked(path: Path) -> int | None:
    """The lock of a slot, to be closed in the end; None if it is in use or being removed."""
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever removes a slot renames it first: a lock on a file that is not there any more protects nothing.
        if os.path.samestat(os.fstat(lock), os.stat(path / "lock")):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(lock)
    return None
