"""The bytes of working papers, once per content: in the data directory on SQLite, else in the database.

Workers on several machines share PostgreSQL, not a data directory.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.process import disk
from forge.store.papers import Papers

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop

_SWEEP_AFTER = 3600.0
"""Bytes that nothing names stay this long: whoever put them may be about to write the row."""


def put(shop: Workshop, digest: str, data: bytes, now: float) -> None:
    if not shop.database.is_sqlite:
        Papers(shop.database).put_bytes(digest, data, now=now)
        return
    path = _path(shop, digest)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Written anew even if it is there: a damaged copy is mended, and its age begins again.
    disk.replace_synced(path, data, mode=0o600)


def get(shop: Workshop, digest: str) -> bytes | None:
    if not shop.database.is_sqlite:
        return Papers(shop.database).bytes_of(digest)
    with suppress(FileNotFoundError):
        return _path(shop, digest).read_bytes()
    return None


def sweep(shop: Workshop, *, now: float) -> int:
    """Delete what has expired, and bytes that nothing names. Gives how many papers went."""
    rows = Papers(shop.database)
    gone = sum(rows.expire(now))
    before = now - _SWEEP_AFTER
    rows.sweep_bytes(before)
    for folder in _folders(shop):
        old = [path for path in folder.iterdir() if _modified(path) < before]
        used = rows.in_use([path.name for path in old])
        for path in old:
            if path.name not in used:
                path.unlink(missing_ok=True)
    return gone


def _path(shop: Workshop, digest: str) -> Path:
    return shop.settings.data_dir / "papers" / digest[:2] / digest


def _folders(shop: Workshop) -> list[Path]:
    root = shop.settings.data_dir / "papers"
    return [each for each in root.iterdir() if each.is_dir()] if root.is_dir() else []


def _modified(path: Path) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return float("inf")
