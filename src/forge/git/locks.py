"""Lock files that git and libgit2 leave beside refs: whose they are, and whether they may go."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from forge.git import process
from forge.git.errors import RefLocked
from forge.git.operations import Claim

# git holds these locks for moments. One without a name in it is taken for a dead process's own when it appeared
# while that process was at work and nobody has finished it since.
_OLD = 2.0
_WHILE_MOVING = 5.0


def removed(ref_lock: Path, packed_lock: Path, claim: Claim) -> bool:
    """Remove what the claiming process left when it died. Anything else may be somebody's work and stays."""
    if not process.died(claim.mark, age=time.time() - claim.time):
        return False
    gone = False
    with suppress(OSError):
        content = ref_lock.read_text(errors="replace").strip()
        if (content == claim.after) if content else _left_by(claim, ref_lock):
            ref_lock.unlink()
            gone = True
    with suppress(OSError):
        if _left_by(claim, packed_lock):
            packed_lock.unlink()
            gone = True
    return gone


def _left_by(claim: Claim, lock: Path) -> bool:
    made = lock.stat().st_mtime
    # A clock that was set back makes old locks look as if they came from the future.
    return abs(time.time() - made) > _OLD and -1 < made - claim.time < _WHILE_MOVING


def held(common_dir: Path, ref: str) -> RefLocked:
    """The error for a lock that did not go away."""
    for lock in (common_dir / f"{ref}.lock", common_dir / "packed-refs.lock"):
        with suppress(OSError):
            age = time.time() - lock.stat().st_mtime
            return RefLocked(
                f"Another program has locked {ref} for {age:.0f} seconds.",
                hint=f"Try again. If no git is running, a crash left the lock: remove {lock}.",
            )
    return RefLocked(f"Another program keeps locking {ref}.", hint="Try again in a moment.")
