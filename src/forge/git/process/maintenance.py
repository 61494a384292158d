"""What saving leaves behind over time: many small packs, and files of processes that died."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2

from forge.errors import ForgeError
from forge.git.objects import pack
from forge.git.process import git_command, liveness
from forge.git.refs import holds, locks, packed_refs

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.operations.log import OperationLog

# Every look-up asks each pack in turn. Below this number it does not show; a repack leaves about ten.
_MANY_PACKS = 50
# Where git cannot merge only the small packs, it has to write all objects again.
_VERY_MANY_PACKS = 250
# A look costs as much as a small part of a save, and a few packs more or less do not show.
_LOOK_EVERY = 8
_REPACK_PAUSE = 0.25
_PAUSE_AFTER_FAILURE = 600.0
_SWEEP_PAUSE = 5.0
# Nothing in the scratch folder is worked on for so long.
_ABANDONED = 3600.0
_LOCK_FD_OF_CHILD = 3


class Upkeep:
    """Looks after one opened repository, in passing: after a save, and never in its way."""

    def __init__(self, objects: Objects, log: OperationLog) -> None:
        self._objects = objects
        self._log = log
        self._landings = 0
        self._packs: frozenset[str] = frozenset()
        self._swept = float("-inf")
        self._repacking: int | None = None
        self._repack_after = float("-inf")

    def after_landing(self) -> None:
        """Now and then one listing of the pack folder; the rest only when that shows a need.

        A save that landed never fails here.
        """
        landed_before = self._landings
        self._landings += 1
        if landed_before % _LOOK_EVERY:
            return
        with suppress(OSError, pygit2.GitError, ForgeError):
            self._look_after()

    def _look_after(self) -> None:
        names = _names(self._objects)
        packs = frozenset(name for name in names if name.endswith(".pack"))
        if self._packs - packs:
            # Somebody repacked.
            self._objects.let_go_of_packs()
        self._packs = packs
        self._reap()
        if time.monotonic() - self._swept > _SWEEP_PAUSE:
            self._swept = time.monotonic()
            sweep(self._objects)
            holds.sweep(self._objects)
            for ref, claim in self._log.claims_of_the_dead():
                locks.removed(self._objects.common_dir, ref, [claim])
        if self._repacking is None and time.monotonic() > self._repack_after:
            self._repacking = repack_when_due(self._objects, names)

    def _reap(self) -> None:
        if self._repacking is not None:
            try:
                ended, status = os.waitpid(self._repacking, os.WNOHANG)
            except ChildProcessError:  # somebody else waits for all children of this process
                ended, status = self._repacking, 0
            if ended:
                self._repacking = None
            if status:
                self._repack_after = time.monotonic() + _PAUSE_AFTER_FAILURE


def repack_when_due(objects: Objects, names: frozenset[str] | None = None) -> int | None:
    """Start git to merge small packs when there are many, and do not wait for it. Gives the process's id."""
    names = _names(objects) if names is None else names
    loose_packs = [name for name in names if name.endswith(".pack") and f"{name[:-5]}.keep" not in names]
    # A gc under way will do it, and would stumble over packs that vanish.
    gc = objects.common_dir / "gc.pid"
    if len(loose_packs) <= _MANY_PACKS or (gc.exists() and _age(gc) < _ABANDONED):
        return None
    arguments = ["repack", "--geometric=2", "-d", "-l", "-q"]
    if _needs_all(objects, names):
        arguments = ["repack", "-a", "-d", "--keep-unreachable", "-l", "-q"]
        if len(loose_packs) <= _VERY_MANY_PACKS:
            return None
    return _started(objects, ["-c", "core.fsync=pack,pack-metadata", *arguments])


def _needs_all(objects: Objects, names: frozenset[str]) -> bool:
    """git cannot yet merge some packs of a partial clone or beside a borrowed object store."""
    return any(name.endswith(".promisor") for name in names) or (objects.objects_dir / "info/alternates").exists()


def _started(objects: Objects, arguments: list[str]) -> int | None:
    """One at a time for a repository: the child itself holds the lock, however long its parent lives."""
    try:
        lock = os.open(objects.common_dir / "forge" / "repack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return None  # upkeep can wait for a disk that can be written
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if 0 <= time.time() - os.fstat(lock).st_mtime < _REPACK_PAUSE and os.fstat(lock).st_size:
            return None
        os.pwrite(lock, b"\n", 0)
        return os.posix_spawnp(
            "git",
            git_command.arguments(objects.git_dir, arguments),
            git_command.environment(),
            file_actions=[
                *((os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)),
                (os.POSIX_SPAWN_DUP2, lock, _LOCK_FD_OF_CHILD),
            ],
            setsid=True,
        )
    except OSError:
        return None  # another process is at it, or git cannot be started now
    finally:
        os.close(lock)


def sweep(objects: Objects, *, pretend: bool = False) -> tuple[Path, ...]:
    """Remove what processes that died have left; gives what was found."""
    lock = packed_refs.lock_path(objects.common_dir)
    left = [*_dead_packs(objects), *_old_scratch(objects)]
    found = (*left, *((lock,) if locks.left_behind(lock) else ()))
    if not pretend:
        for path in left:
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if lock in found:
            locks.packed_removed(objects.common_dir)
    return found


def _dead_packs(objects: Objects) -> list[Path]:
    """The `.keep` of a process that died, and what it had not finished: a pack that has no index yet."""
    folder = objects.objects_dir / "pack"
    names = _names(objects)
    found: list[Path] = []
    for name in sorted(names):
        stem = name.removesuffix(".keep")
        if stem == name or not pack.is_ours(stem) or not _left_by_the_dead(folder / name):
            continue
        unfinished = [objects.scratch / f"{stem}.pack", objects.scratch / f"{stem}.idx"]
        if f"{stem}.idx" not in names:
            unfinished.append(folder / f"{stem}.pack")
        # The mark goes last: what it stands for must still be found if we die here.
        found += [path for path in unfinished if path.exists()] + [folder / name]
    return found


def _left_by_the_dead(keep: Path) -> bool:
    try:
        mark, age = keep.read_text(errors="replace"), time.time() - keep.stat().st_mtime
    except OSError:
        return False
    # After a power cut the file may be there without its content.
    return liveness.died(mark, age=age) or (not mark and age > _ABANDONED)


def _old_scratch(objects: Objects) -> list[Path]:
    beside = objects.common_dir.glob(".packed-refs.*")
    within = objects.scratch.iterdir() if objects.scratch.exists() else ()
    old = [path for path in (*within, *beside) if _age(path) > _ABANDONED]
    marked = objects.scratch.glob(f"{packed_refs.MARKED}*")
    return old + [path for path in marked if path not in old and _left_by_the_dead(path)]


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def _names(objects: Objects) -> frozenset[str]:
    try:
        return frozenset(os.listdir(objects.objects_dir / "pack"))
    except FileNotFoundError:
        return frozenset()
