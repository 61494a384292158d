"""Changes of a workspace as values: remember its pending files, put them back, tell what came in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from forge.git import GitCommitVFS, Mode, Pending, WorkInProgressVFS

Snapshot: TypeAlias = Mapping[str, Pending | None]
"""Pending files by path, None where deleted; a path that is not in it is as in the base commit."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it is at one moment."""

    mode: int
    data: bytes


def snapshot(vfs: WorkInProgressVFS) -> Snapshot:
    return dict(vfs.pending)


def changed_paths(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Paths whose pending state differs between two snapshots on one base."""
    missing = object()
    paths = before.keys() | after.keys()
    return tuple(sorted(path for path in paths if before.get(path, missing) != after.get(path, missing)))


def state_in(vfs: WorkInProgressVFS, then: Snapshot, path: str) -> FileState | None:
    """The file at `path` as it was in the snapshot `then`; None where there was none."""
    if path not in then:
        base = GitCommitVFS(vfs.objects, vfs.base)
        found = base.entry(path)
        if found is None or found.is_tree or found.is_submodule:
            return None
        return FileState(found.mode, base.read_bytes(path))
    pending = then[path]
    if pending is None:
        return None
    return FileState(pending.mode, pending.data if pending.data is not None else vfs.objects.blob(pending.id))


def put(vfs: WorkInProgressVFS, states: Mapping[str, FileState | None]) -> None:
    """Give each path its state. What goes makes room first."""
    for path, state in states.items():
        if state is None and vfs.file_exists(path):
            vfs.delete_file(path)
    for path, state in sorted(states.items()):
        if state is not None:
            # Odd modes of old repositories can stay on a file but not be given to one.
            usual = state.mode in (Mode.FILE, Mode.EXECUTABLE, Mode.SYMLINK)
            vfs.write_bytes(path, state.data, mode=state.mode if usual else None)


def restore(vfs: WorkInProgressVFS, then: Snapshot) -> None:
    """Put the workspace back to the snapshot `then`."""
    vfs.restore(then)
