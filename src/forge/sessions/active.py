"""Which files of a branch are in the agent's context: wholly, partly or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.git import VFS, WorkInProgressVFS
from forge.sessions.conversation import read_head
from forge.sessions.head import ActiveFile, with_active, write_draft

__all__ = ["ActiveFile", "read_active", "switched_off", "write_active"]


def read_active(vfs: VFS) -> tuple[ActiveFile, ...]:
    """In the order in which they came in."""
    return read_head(vfs).active_files


def switched_off(vfs: VFS) -> tuple[str, ...]:
    """Instruction files that somebody took out of the context."""
    return read_head(vfs).off


def write_active(vfs: WorkInProgressVFS, files: Sequence[ActiveFile], *, off: Sequence[str] | None = None) -> None:
    """Each path once, the last word counts. Goes into the next turn that is written to `vfs`."""
    head = read_head(vfs)
    wanted = with_active(head, tuple(files))
    if off is not None:
        wanted = replace(wanted, off=tuple(dict.fromkeys(off)))
    if wanted != head:
        write_draft(vfs, wanted)
