"""How much disk the directories may take together; those that were not used for longest go first."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.git.materialize import sweep
from forge.git.materialize.safe_walk import FOLDER
from forge.git.materialize.slots import Slot, locked

_GONE = ".gone-"
# Commands fill their directory in their own time: no need to measure after each of them.
_MEASURED_FOR = 600.0


@dataclass(frozen=True, slots=True)
class Budget:
    directories: int = 20
    bytes: int = 10 << 30


def measured(slot: Slot) -> bool:
    """Record the size of a slot, unless that was done not long ago."""
    try:
        if time.time() - slot.size.stat().st_mtime < _MEASURED_FOR:
            return False
    except FileNotFoundError:
        pass
    folder = os.open(slot.path, FOLDER)
    try:
        slot.size.write_text(str(sweep.size(folder)))
    finally:
        os.close(folder)
    return True


def enforce(root: Path, budget: Budget, *, keep: Slot) -> None:
    """Remove the slots used least lately until the rest fits. One that is in use always stays."""
    _finish_removals(root)
    slots = [Slot(path) for path in root.iterdir() if path != keep.path and not path.name.startswith(".")]
    kept, used = 1, _size(keep)
    for slot in sorted(slots, key=_last_used, reverse=True):
        size = _size(slot)
        if (kept >= budget.directories or used + size > budget.bytes) and _removed(root, slot):
            continue
        kept += 1
        used += size


def _size(slot: Slot) -> int:
    try:
        return int(slot.size.read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return 0


def _last_used(slot: Slot) -> float:
    for file in (slot.state, slot.path):
        try:
            return file.stat().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            continue
    return 0.0


def _removed(root: Path, slot: Slot) -> bool:
    lock = locked(slot.path)
    if lock is None:
        return False
    try:
        gone = root / f"{_GONE}{secrets.token_hex(8)}"
        os.rename(slot.path, gone)
    finally:
        os.close(lock)
    _remove(root, gone.name)
    return True


def _finish_removals(root: Path) -> None:
    """What a process that died had begun to remove."""
    for path in root.glob(f"{_GONE}*"):
        _remove(root, path.name)


def _remove(root: Path, name: str) -> None:
    folder = os.open(root, FOLDER)
    try:
        # What cannot be removed now must not keep anybody from working; it is tried again next time.
        with suppress(OSError):
            sweep.remove(folder, name)
    finally:
        os.close(folder)
