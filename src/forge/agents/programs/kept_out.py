"""Paths of a workspace that are Forge's own: what a program changed there is put back."""

from __future__ import annotations

from collections.abc import Iterable

from forge.git import CollectedChange, GitCommitVFS, WorkInProgressVFS
from forge.git.workspace.forge_records import is_inside


class Before:
    """A workspace as it was before a program's changes were collected."""

    def __init__(self, vfs: WorkInProgressVFS) -> None:
        self._vfs = vfs
        self._pending = dict(vfs.pending)
        self._base = GitCommitVFS(vfs.objects, vfs.base)

    def restored(self, changes: Iterable[CollectedChange]) -> tuple[tuple[CollectedChange, ...], tuple[str, ...]]:
        """The changes that stay, and the paths of Forge's own where the workspace is again as it was."""
        all_changes = tuple(changes)
        own = [change.path for change in all_changes if is_inside(change.path)]
        # A file may stand where a folder was: first what is there now goes, then what was there comes back.
        for path in own:
            if self._vfs.file_exists(path):
                self._vfs.delete_file(path)
        for path in own:
            self._put_back(path)
        return tuple(change for change in all_changes if change.path not in own), tuple(own)

    def _put_back(self, path: str) -> None:
        if path in self._pending:
            new = self._pending[path]
            if new is not None:
                data = new.data if new.data is not None else self._vfs.objects.blob(new.id)
                self._vfs.write_bytes(path, data, mode=new.mode)
            return
        found = self._base.entry(path)
        if found is not None and not found.is_tree:
            self._vfs.write_bytes(path, self._base.read_bytes(path), mode=found.mode)
