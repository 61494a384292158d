"""Lock files that are left beside refs: whose they are, and whether they may go."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge.counts import counted
from forge.git.errors import RefLocked
from forge.git.process import disk, liveness
from forge.git.refs import packed_refs

if TYPE_CHECKING:
    from forge.git.refs.operations.operation import Claim

# git holds ref locks for moments. One without a name in it is taken for a dead process's own when it appeared
# while that process was working and nobody has finished it since.
_OLD = 2.0
_WHILE_MOVING = 30.0


def removed(common_dir: Path, ref: str, claims: Iterable[Claim]) -> bool:
    """Remove locks on `ref` and on packed refs that dead processes left. Others may be somebody's work and stay."""
    packed = packed_removed(common_dir)
    lock = common_dir / f"{ref}.lock"
    if not lock.exists():
        return packed
    with _alone(common_dir):
        stale = left_behind(lock) or any(_left_by(claim, lock) for claim in claims)
        if stale:
            lock.unlink()
    return stale or packed


def packed_removed(common_dir: Path) -> bool:
    lock = packed_refs.lock_path(common_dir)
    if not lock.exists():
        return False
    with _alone(common_dir):
        stale = left_behind(lock)
        if stale:
            lock.unlink()
    return stale


def left_behind(lock: Path) -> bool:
    """Whether a lock is that of a dead Forge process, with its mark in it; git's has none."""
    try:
        mark, age = lock.read_text(errors="replace"), time.time() - lock.stat().st_mtime
    except OSError:
        return False
    return liveness.died(mark, age=age)


def _left_by(claim: Claim, ref_lock: Path) -> bool:
    try:
        content, file = ref_lock.read_text(errors="replace").strip(), ref_lock.stat()
    except OSError:
        return False
    now, made = time.time(), file.st_mtime
    # A clock that was set back makes old locks look as if they came from the future.
    empty = not content and abs(now - made) > _OLD and -1 < made - claim.time < _WHILE_MOVING
    if not (empty or content == claim.after) or not liveness.died(claim.mark, age=now - claim.time):
        return False
    # Two may want the same: a process of Forge keeps its lock open as long as it lives.
    return not liveness.has_open(file.st_dev, file.st_ino)


def index_lock_removed(lock: Path, claims: Iterable[Claim]) -> bool:
    """Remove git's lock on an index that was left when a Forge process and the git it had started died together.

    git keeps its lock open as long as it works, so one that nobody has open is nobody's. Callers come one by one.
    """
    try:
        found = lock.stat()
    except OSError:
        return False
    now = time.time()
    left = any(
        -1 < found.st_mtime - claim.time < _WHILE_MOVING and liveness.died(claim.mark, age=now - claim.time)
        for claim in claims
    )
    if not left or abs(now - found.st_mtime) < _OLD or liveness.has_open(found.st_dev, found.st_ino):
        return False
    lock.unlink(missing_ok=True)
    return True


@contextmanager
def _alone(common_dir: Path) -> Iterator[None]:
    """One at a time: a lock that looks stale to two may by now be the live one of the first."""
    with disk.reporting(), disk.locked(common_dir / "forge" / "stale.lock"):
        yield


def held(common_dir: Path, ref: str) -> RefLocked:
    """The error for a lock that did not go away."""
    for lock in (common_dir / f"{ref}.lock", common_dir / "packed-refs.lock"):
        with suppress(OSError):
            age = time.time() - lock.stat().st_mtime
            return RefLocked(
                f"Another program has locked {ref} for {counted(round(age), 'second')}.",
                hint=f"Try again. If no git is running, a crash left the lock: remove {lock}.",
            )
    return RefLocked(f"Another program keeps locking {ref}.", hint="Try again in a moment.")
