"""A damaged SQLite file is put out of the way: it is kept under another name, and the next start makes a new one."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from forge.store.errors import StoreInUse

_BESIDE = ("-wal", "-shm", "")
"""The file itself comes last: a new one must never find the log of the old one beside it."""


def set_aside(path: Path) -> Path:
    """Gives the name under which it is kept; what SQLite had beside it is kept by the same name."""
    _require_that_nobody_has_it(path)
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    for ending in _BESIDE:
        file = path.with_name(path.name + ending)
        if file.exists():
            file.rename(kept.with_name(kept.name + ending))
    _sync(path.parent)
    return kept


def _require_that_nobody_has_it(path: Path) -> None:
    """Whoever has a database open in WAL mode holds a shared lock on its file for as long."""
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreInUse(
                f"{path} is damaged, and another process has it open.",
                hint="End the commands, workers and servers of Forge, then run `forge doctor --repair` again.",
            ) from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
