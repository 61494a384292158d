"""What a workspace has changed and not committed: files as they will be, and the view of the base through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.git.objects import trees
from forge.git.objects.raw_object import NewObjects, RawObject
from forge.git.values import EMPTY_TREE, Entry, Mode, ObjectId, ObjectKind
from forge.git.workspace import paths
from forge.git.workspace.commit_vfs import DirEntry, GitCommitVFS, dir_entry, missing, sorted_names
from forge.git.workspace.overlay import Overlay


class Change(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Pending:
    """A file as it will be committed. Without data its blob is already in the base commit."""

    mode: int
    id: ObjectId
    data: bytes | None

    @property
    def entry(self) -> Entry:
        return Entry(self.mode, self.id)


class PendingChanges:
    """Changes to the files of one commit, and what is where when they are counted in."""

    def __init__(self, base: GitCommitVFS) -> None:
        self.base = base
        self._objects = base.objects
        self._files: dict[str, Pending | None] = {}
        self._overlay = Overlay()

    @property
    def files(self) -> Mapping[str, Pending | None]:
        """New state by path; None means deleted."""
        return MappingProxyType(self._files)

    def get(self, path: str) -> Pending | None:
        """The new state of a file that is to be there."""
        return self._files.get(path)

    def kinds(self) -> dict[str, Change]:
        """What a commit would change, by path."""
        return {path: self._kind(path, new) for path, new in sorted(self._files.items())}

    def put(self, path: str, state: Pending | None) -> None:
        """Let `path` become `state`. What the base has already is no change."""
        if path in self._files:
            self._overlay.remove(path, live=self._files.pop(path) is not None)
        base = self.base.entry(path)
        before = None if base is not None and base.is_tree else base
        if (state.entry if state else None) != before:
            self._files[path] = state
            self._overlay.add(path, live=state is not None)

    def restore(self, files: Mapping[str, Pending | None]) -> None:
        """Exactly these changes, and no other."""
        self.clear()
        for path, state in files.items():
            self.put(path, state)

    def clear(self) -> None:
        self._files.clear()
        self._overlay = Overlay()

    def entry(self, path: str) -> Entry | None:
        if path in self._files:
            new = self._files[path]
            return new.entry if new else self._folder(path)
        found = self.base.entry(path)
        if (found is None or found.is_tree) and self._overlay.touched(path):
            return self._folder(path)
        return found

    def list_files(self, prefix: str) -> list[str]:
        base = self.base.list_files(prefix)
        if not self._files:
            return base
        kept = [path for path in base if path not in self._files]
        new = [path for path, state in self._files.items() if state and path.startswith(prefix)]
        return sorted(kept + new, key=trees.encode) if new else kept

    def list_dir(self, path: str) -> tuple[DirEntry, ...]:
        if path:
            path = paths.readable(path.rstrip("/"))
        if not self._overlay.touched(path):
            return self.base.list_dir(path)
        base = self._base_folder(path)
        names = dict(self._objects.tree(base.id)) if base is not None and base.is_tree else {}
        for name in self._overlay.names(path):
            found = self.entry(f"{path}/{name}" if path else name)
            if found is None:
                names.pop(name, None)
            else:
                names[name] = found
        if path and not names:
            raise missing(path, "folder")
        return sorted_names([dir_entry(name, found) for name, found in names.items()])

    def spellings(self, folder: str, same: str) -> frozenset[str]:
        """Names in `folder` that fold to `same`; some may be gone again."""
        base = self._base_folder(folder)
        twins = self._overlay.spellings(folder, same)
        if base is not None and base.is_tree:
            twins = twins | self._objects.spellings(base.id, same)
        return twins

    def tree(self, *, without: Callable[[str], bool] | None = None) -> tuple[ObjectId, NewObjects]:
        """The tree that these changes make, and what of it is not in the repository yet."""
        kept = {path: state for path, state in self._files.items() if without is None or not without(path)}
        entries = {path: state.entry if state else None for path, state in kept.items()}
        tree, new = trees.rewrite(self._objects.raw_tree, self.base.tree, entries)
        for state in kept.values():
            if state is not None and state.data is not None:
                new[state.id] = RawObject(ObjectKind.BLOB, state.data)
        return tree, new

    def _base_folder(self, path: str) -> Entry | None:
        return self._objects.entry(self.base.tree, path) if path else Entry(Mode.TREE, self.base.tree)

    def _folder(self, path: str) -> Entry | None:
        """The folder at `path` if pending changes leave or put a file in it."""
        base = self.base.entry(path)
        if base is not None and not base.is_tree:
            base = None
        if self._overlay.live(path) or (base is not None and self._survives(path, base.id)):
            return Entry(Mode.TREE, base.id if base else EMPTY_TREE)
        return None

    def _survives(self, path: str, tree: ObjectId) -> bool:
        try:
            if len(self._objects.paths(tree)) > self._overlay.deleted(path):
                return True
            return any(entry.is_submodule for _, entry in self._objects.files(tree))
        except (RepositoryUnreadable, RevisionMissing):
            return True  # what is too much to count, or cannot be read, was not deleted

    def _kind(self, path: str, new: Pending | None) -> Change:
        if new is None:
            return Change.DELETED
        old = self.base.entry(path)
        return Change.ADDED if old is None or old.is_tree else Change.MODIFIED
