"""Which files of a branch are in the agent's context: wholly, partly or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.git import VFS
from forge.sessions.head import ActiveFile, read_head, write_head

__all__ = ["ActiveFile", "read_active", "write_active"]


def read_active(vfs: VFS) -> tuple[ActiveFile, ...]:
    """In the order in which they came in."""
    return read_head(vfs).active_files


def write_active(vfs: VFS, files: Sequence[ActiveFile]) -> None:
    """Each path once, the last word counts; nothing is written if nothing changes."""
    head = read_head(vfs)
    wanted = tuple({file.path: file for file in files}.values())
    if wanted != head.active_files:
        write_head(vfs, replace(head, active_files=wanted))
