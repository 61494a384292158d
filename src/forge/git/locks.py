"""Lock files that git and libgit2 leave beside refs: whose they are, and whether they may go."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from forge.git import process
from forge.git.errors import RefLocked
from forge.git.operations import Claim

# git holds the lock on packed refs for moments; one this old, made while a dead Forge process was at it, is its own.
_OLD = 10.0
_WHILE_MOVING = 5.0


def removed(ref_lock: Path, packed_lock: Path, claim: Claim) -> bool:
    """Remove what the claiming process left when it died. Anything else may be somebody's work and stays."""
    if not process.died(claim.mark):
        return False
    gone = False
    with suppress(OSError):
        if ref_lock.read_text(errors="replace").strip() in ("", claim.after or ""):
            ref_lock.unlink()
            gone = True
    with suppress(OSError):
        made = packed_lock.stat().st_mtime
        if time.time() - made > _OLD and -1 < made - claim.time < _WHILE_MOVING:
            packed_lock.unlink()
            gone = True
    return gone


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
