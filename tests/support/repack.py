"""Whether the repack of a repository has ended."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def idle(place: Path) -> bool:
    """Whether nobody holds the lock of the repack."""
    done = subprocess.run(["flock", "--nonblock", place / "forge" / "repack.lock", "true"], check=False)
    return done.returncode == 0
