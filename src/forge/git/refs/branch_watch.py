"""Whether branches may have moved since the last look, by the times of a few directories: no ref is read."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICK_NS = 50_000_000
"""Two changes within a tick of the file system's clock may leave the same time."""
_MOST_FOLDERS = 1000


class BranchWatch:
    """git and Forge replace the file of a ref, which changes its directory; packed refs are one file."""

    def __init__(self, common_dir: Path) -> None:
        self._heads = f"{common_dir}/refs/heads"
        self._packed = f"{common_dir}/packed-refs"
        self._folders: tuple[str, ...] = (self._heads,)
        self._seen: tuple[object, ...] | None = None

    def has_changed(self) -> bool:
        """True the first time. Costs one `stat` for each folder of branches."""
        now = self._times()
        if now == self._seen:
            return False
        self._folders = tuple(_folders(self._heads))
        now = self._times()
        newest = max((each[1] for each in now if each is not None), default=0)
        self._seen = now if time.time_ns() - newest > _TICK_NS else None
        return True

    def _times(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(map(_time, (self._packed, *self._folders)))


def _time(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _folders(top: str) -> list[str]:
    found = [top]
    for folder in found:
        if len(found) > _MOST_FOLDERS:
            break
        try:
            with os.scandir(folder) as entries:
                found += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return found
