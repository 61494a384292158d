"""A branch being worked on: its tip as it was when opened, and the changes since, in memory until one commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from forge.git import commits, paths, trees
from forge.git.errors import (
    BranchExists,
    BranchMissing,
    BranchMoved,
    InvalidPath,
    NothingToCommit,
    PathClash,
    RepositoryUnreadable,
    RevisionMissing,
)
from forge.git.objects import Objects
from forge.git.operations import Operation
from forge.git.overlay import Overlay
from forge.git.pack import NewObjects, RawObject, object_id
from forge.git.refs import Refs
from forge.git.values import EMPTY_TREE, PERSON, Actor, CommitId, Entry, Kind, Mode, ObjectId, Signature
from forge.git.vfs import VFS, DirEntry, GitCommitVFS, dir_entry, file_at, missing, sorted_names

_WRITABLE = (Mode.FILE, Mode.EXECUTABLE, Mode.SYMLINK)
# git fsck refuses these as symlinks, also under the short names that NTFS gives them: they would let a checkout
# read a file outside as configuration.
_NEVER_LINKS = re.compile(
    r"\.(gitmodules|gitattributes|gitignore|mailmap)|(gitmod|gitatt|gitign|mailma)~[1-4]"
    r"|(gi7e|gi7d|gi25|maba)[0-9a-f]{0,2}~[0-9]+",
    re.IGNORECASE,
)


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


class WorkInProgressVFS(VFS):
    """Reads see pending changes first; `commit()` makes them one commit, `discard()` forgets them."""

    def __init__(
        self,
        objects: Objects,
        refs: Refs,
        branch: str,
        signature: Callable[[], Signature],
        *,
        actor: Actor = PERSON,
        base: CommitId | Literal["tip"] | None = "tip",
    ) -> None:
        self.objects = objects
        self.branch = branch
        self.actor = actor
        self.last_operation: Operation | None = None
        self._refs = refs
        self._signature = signature
        self._rebase_on(refs.tip(branch) if base == "tip" else base)
        self._pending: dict[str, Pending | None] = {}
        self._overlay = Overlay()

    @property
    def base_tree(self) -> ObjectId:
        return self._base.tree

    @property
    def pending(self) -> Mapping[str, Pending | None]:
        """New state by path; None means deleted."""
        return MappingProxyType(self._pending)

    def pending_changes(self) -> dict[str, Change]:
        """What a commit would change, by path."""
        return {path: self._kind(path, new) for path, new in sorted(self._pending.items())}

    def discard(self) -> None:
        """Forget every pending change."""
        self._pending.clear()
        self._overlay = Overlay()

    # -- reading

    def entry(self, path: str) -> Entry | None:
        if path in self._pending:
            new = self._pending[path]
            return new.entry if new else self._folder(path)
        found = self._base.entry(path)
        if (found is None or found.is_tree) and self._overlay.touched(path):
            return self._folder(path)
        return found

    def read_bytes(self, path: str) -> bytes:
        new = self._pending.get(path)
        if new is not None and new.data is not None:
            return new.data
        return self.objects.blob(file_at(self, path).id)

    def list_files(self, prefix: str = "") -> list[str]:
        base = self._base.list_files(prefix)
        if not self._pending:
            return base
        kept = [path for path in base if path not in self._pending]
        new = [path for path, state in self._pending.items() if state and path.startswith(prefix)]
        return sorted(kept + new, key=trees.encode) if new else kept

    def list_dir(self, path: str = "") -> tuple[DirEntry, ...]:
        if path:
            path = paths.readable(path.rstrip("/"))
        if not self._overlay.touched(path):
            return self._base.list_dir(path)
        base = self.objects.entry(self._base.tree, path) if path else Entry(Mode.TREE, self._base.tree)
        names = dict(self.objects.tree(base.id)) if base is not None and base.is_tree else {}
        for name in self._overlay.names(path):
            found = self.entry(f"{path}/{name}" if path else name)
            if found is None:
                names.pop(name, None)
            else:
                names[name] = found
        if path and not names:
            raise missing(path, "folder")
        return sorted_names([dir_entry(name, found) for name, found in names.items()])

    # -- writing

    def write_bytes(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        old = self._writable(path)
        if old is not None and old.is_symlink and mode is None:
            raise InvalidPath(
                f"{path} is a symbolic link to {self.read_bytes(path).decode('utf-8', 'replace')}.",
                hint="Write the file it points to, or delete the link first.",
            )
        mode = mode if mode is not None else old.mode if old else Mode.FILE
        if mode not in _WRITABLE and (old is None or mode != old.mode):
            raise InvalidPath(f"{mode:o} is not a mode of a file.", hint="Use a plain, executable or symlink mode.")
        if mode == Mode.SYMLINK:
            _refuse_link(path, data)
        data = bytes(data)
        self._put(path, Pending(mode, object_id(Kind.BLOB, data), data))

    def delete_file(self, path: str) -> None:
        file_at(self, path)
        self._put(path, None)

    def rename_file(self, old: str, new: str) -> None:
        found = file_at(self, old)
        if new == old:
            return
        state = self._pending.get(old) or Pending(found.mode, found.id, None)
        if found.is_symlink:
            _refuse_link_name(new)
        self._put(old, None)
        try:
            self._refuse_taken(new)
        except (InvalidPath, PathClash):
            self._put(old, state)
            raise
        self._put(new, state)

    def delete_folder(self, path: str) -> None:
        for each in self._below(path):
            self._put(each, None)

    def rename_folder(self, old: str, new: str) -> None:
        """Every file below it gets the new place. The new one must not be there yet."""
        if new == old:
            return
        if new.startswith(f"{old}/"):
            raise InvalidPath(f"{old} cannot be moved into itself.", hint="Choose a place outside of it.")
        moved = {path: self._pending.get(path) or self._known(path) for path in self._below(old)}
        before = dict(self._pending)
        self.delete_folder(old)
        try:
            self._refuse_taken(new)
            for path, state in moved.items():
                place = new + path[len(old) :]
                self._refuse_taken(place)
                self._put(place, state)
        except (InvalidPath, PathClash):
            self._restore(before)
            raise

    def set_mode(self, path: str, mode: int) -> None:
        found = file_at(self, path)
        if found.is_symlink or mode not in (Mode.FILE, Mode.EXECUTABLE):
            raise InvalidPath(f"{path} can be made plain or executable only if it is a file.")
        state = self._pending.get(path)
        self._put(path, Pending(mode, found.id, state.data if state else None))

    # -- committing

    def commit(
        self,
        message: str,
        author: Signature | None = None,
        trailers: Mapping[str, str] | None = None,
        *,
        allow_empty: bool = False,
        reason: str | None = None,
        onto: str | None = None,
    ) -> CommitId:
        """One commit with every pending change, durable when this returns. A moved branch is never overwritten.

        `onto` makes a new branch of that name for it, and leaves this one where it is.
        """
        text = commits.message_with(message, trailers)
        if not self._pending and not allow_empty:
            raise NothingToCommit("There is nothing to commit.", hint="Change a file first.")
        made, new = self.draft(text, author or self._signature())
        before = None if onto else self.base
        try:
            self.last_operation = self._refs.land(
                onto or self.branch, made, new, before=before, actor=self.actor, reason=reason or text.splitlines()[0]
            )
        except BranchExists as e:
            if onto or self._refs.tip(self.branch) is None:  # only a name that this one cannot stand beside
                raise
            raise BranchMoved(
                f"Somebody else made {self.branch} meanwhile; nothing was overwritten.",
                hint="Catch up with the branch and commit again.",
            ) from e
        if onto is not None:
            self.branch = onto
        self._rebase_on(made)
        self.discard()
        return made

    def draft(
        self, message: str, author: Signature, *, without: Callable[[str], bool] | None = None
    ) -> tuple[CommitId, NewObjects]:
        """The commit that pending changes would make, and what of it is not in the repository yet. Writes nothing."""
        kept = {path: state for path, state in self._pending.items() if without is None or not without(path)}
        tree, new = self._tree(kept)
        raw = commits.encoded(tree, [self.base] if self.base else [], author, author, message)
        made = CommitId(object_id(Kind.COMMIT, raw))
        new[ObjectId(made)] = RawObject(Kind.COMMIT, raw)
        return made, new

    def replace_pending(self, entries: Mapping[str, Entry | None]) -> None:
        """Make exactly `entries` pending; what they need must be in the repository."""
        self.discard()
        for path, entry in entries.items():
            kept = entry is None or entry.is_submodule
            self._put(
                path, Pending(entry.mode, entry.id, None if kept else self.objects.blob(entry.id)) if entry else None
            )

    def catch_up(self) -> None:
        """Take the branch's present tip as the base. Pending changes stay unless the same files changed there."""
        tip = self._refs.tip(self.branch)
        if tip == self.base:
            return
        if tip is None:
            raise BranchMissing(f"{self.branch} was deleted.", hint="Fork a branch and make the change there.")
        fresh = GitCommitVFS(self.objects, tip)
        both = [path for path in self._pending if fresh.entry(path) != self._base.entry(path)]
        if both:
            raise self._changed_there(", ".join(sorted(both)[:5]))
        before = self.base, self._pending, self._overlay
        pending = self._without_old_base(fresh)
        self._rebase_on(tip)
        self._pending, self._overlay = {}, Overlay()
        try:
            for path, state in sorted(pending.items(), key=lambda item: item[1] is not None):
                if state is not None and fresh.entry(path) is None:
                    self._writable(path)
                self._put(path, state)
        except (PathClash, InvalidPath) as e:
            self._rebase_on(before[0])
            self._pending, self._overlay = before[1:]
            raise self._changed_there(f"What {path} needs") from e

    def _changed_there(self, what: str) -> BranchMoved:
        return BranchMoved(
            f"{what} changed on {self.branch} too.",
            hint="Discard your change of these files, or commit yours on a branch of its own and merge.",
        )

    def _without_old_base(self, fresh: GitCommitVFS) -> dict[str, Pending | None]:
        """Pending changes with the content that only the old base may have: no ref may hold that any more."""
        there = {found.id for path in self._pending if (found := fresh.entry(path)) is not None}
        return {
            path: replace(state, data=self.objects.blob(state.id))
            if state is not None and state.data is None and state.id not in there
            else state
            for path, state in self._pending.items()
        }

    def _tree(self, pending: Mapping[str, Pending | None]) -> tuple[ObjectId, NewObjects]:
        changes = {path: state.entry if state else None for path, state in pending.items()}
        tree, new = trees.rewrite(self.objects.raw_tree, self._base.tree, changes)
        for state in pending.values():
            if state is not None and state.data is not None:
                new[state.id] = RawObject(Kind.BLOB, state.data)
        return tree, new

    def _rebase_on(self, commit: CommitId | None) -> None:
        self.base = commit
        self._base = GitCommitVFS(self.objects, commit)

    def _put(self, path: str, state: Pending | None) -> None:
        if path in self._pending:
            self._overlay.remove(path, live=self._pending.pop(path) is not None)
        base = self._base.entry(path)
        before = None if base is not None and base.is_tree else base
        if (state.entry if state else None) != before:
            self._pending[path] = state
            self._overlay.add(path, live=state is not None)

    def _restore(self, pending: Mapping[str, Pending | None]) -> None:
        self.discard()
        for path, state in pending.items():
            self._put(path, state)

    def _known(self, path: str) -> Pending:
        found = file_at(self, path)
        return Pending(found.mode, found.id, None)

    def _below(self, folder: str) -> list[str]:
        """The files of a folder that can be changed as one."""
        found = self.entry(folder)
        if found is None or not found.is_tree:
            raise missing(folder, "folder")
        files = self.list_files(f"{folder}/")
        if any(entry.is_submodule for _, entry in self.objects.files(found.id)):
            raise PathClash(f"{folder} has another repository in it.", hint="Move or delete that submodule with git.")
        return files

    def _writable(self, path: str) -> Entry | None:
        """What is at `path` now, if a file may be written there."""
        old = self.entry(path)
        if old is not None:
            if old.is_tree or old.is_submodule:
                kind = dir_entry("", old).kind
                raise PathClash(f"{path} is a {kind}.", hint="Choose another name for the file.")
            return old
        paths.checked(path)
        folder = ""
        for name in path.split("/"):
            here = f"{folder}/{name}" if folder else name
            found = self.entry(here)
            if found is None:
                self._refuse_twin(folder, name)
            elif not found.is_tree:
                raise PathClash(f"{here} is a {dir_entry('', found).kind}, not a folder.", hint="Rename it first.")
            folder = here
        return None

    def _refuse_taken(self, path: str) -> None:
        if self._writable(path) is not None:
            raise PathClash(f"{path} exists already.", hint="Delete it first or choose another name.")

    def _refuse_twin(self, folder: str, name: str) -> None:
        """Names that differ only in case or Unicode spelling are one file on many machines."""
        base = self.objects.entry(self._base.tree, folder) if folder else Entry(Mode.TREE, self._base.tree)
        same = paths.folded(name)
        twins = self._overlay.spellings(folder, same)
        if base is not None and base.is_tree:
            twins = twins | self.objects.spellings(base.id, same)
        for twin in twins - {name}:
            if self.entry(f"{folder}/{twin}" if folder else twin) is not None:
                raise PathClash(
                    f"{name} differs from {twin} only in spelling; many machines keep only one of them.",
                    hint=f"Use {twin}, or rename that first.",
                )

    def _folder(self, path: str) -> Entry | None:
        """The folder at `path` if pending changes leave or put a file in it."""
        base = self._base.entry(path)
        if base is not None and not base.is_tree:
            base = None
        if self._overlay.live(path) or (base is not None and self._survives(path, base.id)):
            return Entry(Mode.TREE, base.id if base else EMPTY_TREE)
        return None

    def _survives(self, path: str, tree: ObjectId) -> bool:
        try:
            if len(self.objects.paths(tree)) > self._overlay.deleted(path):
                return True
            return any(entry.is_submodule for _, entry in self.objects.files(tree))
        except (RepositoryUnreadable, RevisionMissing):
            return True  # what is too much to count, or cannot be read, was not deleted

    def _kind(self, path: str, new: Pending | None) -> Change:
        if new is None:
            return Change.DELETED
        old = self._base.entry(path)
        return Change.ADDED if old is None or old.is_tree else Change.MODIFIED


def _refuse_link(path: str, target: bytes) -> None:
    _refuse_link_name(path)
    if not target or b"\0" in target or len(target) > paths.MAX_PATH_BYTES:
        raise InvalidPath(f"{path} cannot point to {target[:40]!r}.", hint="Give a path that exists.")


def _refuse_link_name(path: str) -> None:
    if _NEVER_LINKS.fullmatch(path.rpartition("/")[2]):
        raise InvalidPath(f"{path} cannot be a symbolic link.", hint="Write it as a plain file.")
