"""A branch being worked on: its tip as it was when opened, and the changes since, in memory until one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from forge.git.errors import (
    BranchExists,
    BranchMissing,
    BranchMoved,
    FileTooLarge,
    InvalidPath,
    NothingToCommit,
    PathClash,
)
from forge.git.objects import commits
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.values import PERSON, Actor, CommitId, Entry, Mode, ObjectId, ObjectKind, Signature
from forge.git.workspace import forge_records
from forge.git.workspace.commit_vfs import VFS, DirEntry, GitCommitVFS, file_at, missing
from forge.git.workspace.content_mark import content_mark
from forge.git.workspace.paths import readable
from forge.git.workspace.pending import Change, Pending, PendingChanges
from forge.git.workspace.placement import refuse_link, refuse_link_name, refuse_taken, writable

if TYPE_CHECKING:
    from forge.git.materialize.directory import MaterializedDirectory
    from forge.git.objects.object_store import Objects
    from forge.git.refs.operations.operation import Operation
    from forge.git.refs.ref_store import Refs

_WRITABLE = (Mode.FILE, Mode.EXECUTABLE, Mode.SYMLINK)


_MB = 1 << 20
LARGEST_FILE = 50 * _MB


class WorkInProgressVFS(VFS):
    """Reads see pending changes first; `commit()` makes them one commit, `discard()` forgets them."""

    branch: str

    def __init__(
        self,
        objects: Objects,
        refs: Refs,
        branch: str,
        signature: Callable[[], Signature],
        *,
        actor: Actor = PERSON,
        base: CommitId | Literal["tip"] | None = "tip",
        largest_file: int | None = LARGEST_FILE,
    ) -> None:
        self.largest_file = largest_file
        """Bytes; a larger file is refused. None: a person said yes."""
        self.objects = objects
        self.branch = branch
        self.actor = actor
        self.last_operation: Operation | None = None
        self._refs = refs
        self._signature = signature
        self._changes = PendingChanges(GitCommitVFS(objects, refs.tip(branch) if base == "tip" else base))

    @property
    def base(self) -> CommitId | None:
        return self._changes.base.commit

    @property
    def base_tree(self) -> ObjectId:
        return self._changes.base.tree

    @property
    def pending(self) -> Mapping[str, Pending | None]:
        """New state by path; None means deleted."""
        return self._changes.files

    def pending_changes(self) -> dict[str, Change]:
        """What a commit would change, by path."""
        return self._changes.kinds()

    def discard(self) -> None:
        """Forget every pending change."""
        self._changes.clear()

    # -- reading

    def entry(self, path: str) -> Entry | None:
        return self._changes.entry(path)

    def read_bytes(self, path: str) -> bytes:
        new = self._changes.get(path)
        if new is not None and new.data is not None:
            return new.data
        return self.objects.blob(file_at(self, path).id)

    def list_files(self, prefix: str = "") -> list[str]:
        return self._changes.list_files(prefix)

    def list_dir(self, path: str = "") -> tuple[DirEntry, ...]:
        return self._changes.list_dir(path)

    @contextmanager
    def materialize_to_tempdir(self, *, root: Path | None = None) -> Iterator[MaterializedDirectory]:
        """A real directory with the files, pending ones too, for commands, until the block ends."""
        from forge.git.materialize.directory import held_directory  # noqa: PLC0415 - directories are made of workspaces

        with held_directory(self._refs, self, root=root) as directory:
            yield directory

    # -- writing

    def write_bytes(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        forge_records.refuse_writing(readable(path))
        self._write(path, data, mode)

    def write_record(self, path: str, data: bytes) -> None:
        if not forge_records.is_record(path):
            raise InvalidPath(f"{path} is not the place of a record.", hint="Write it as any other file.")
        self._write(path, data, Mode.FILE)

    def delete_record(self, path: str) -> None:
        if not forge_records.is_record(path):
            raise InvalidPath(f"{path} is not the place of a record.", hint="Delete it as any other file.")
        file_at(self, path)
        self._changes.put(path, None)

    def _write(self, path: str, data: bytes, mode: int | None) -> None:
        old = writable(self._changes, path)
        if old is not None and old.is_symlink and mode is None:
            raise InvalidPath(
                f"{path} is a symbolic link to {self.read_bytes(path).decode('utf-8', 'replace')}.",
                hint="Write the file it points to, or delete the link first.",
            )
        mode = mode if mode is not None else old.mode if old else Mode.FILE
        if mode not in _WRITABLE and (old is None or mode != old.mode):
            raise InvalidPath(f"{mode:o} is not a mode of a file.", hint="Use a plain, executable or symlink mode.")
        if mode == Mode.SYMLINK:
            refuse_link(path, data)
        data = bytes(data)
        oid = object_id(ObjectKind.BLOB, data)
        self._refuse_large(path, len(data), oid)
        self._changes.put(path, Pending(mode, oid, data))

    def _refuse_large(self, path: str, size: int, oid: ObjectId) -> None:
        """Every file enters a commit through here, whoever made it. What the branch has already may stay."""
        if self.largest_file is None or size <= self.largest_file:
            return
        known = self._changes.base.entry(path)
        if known is None or known.id != oid:
            raise FileTooLarge(
                f"{path} has {size / _MB:.0f} MB; files over {self.largest_file / _MB:.0f} MB are saved only when "
                "a person says so.",
                hint="Keep it out of the repository, or save it with `--large` (API: `large=true`); many hosts refuse "
                "files over 100 MB.",
            )

    def delete_file(self, path: str) -> None:
        file_at(self, path)
        forge_records.refuse_removal(path)
        self._changes.put(path, None)

    def rename_file(self, old: str, new: str) -> None:
        found = file_at(self, old)
        if new == old:
            return
        forge_records.refuse_removal(old)
        forge_records.refuse_writing(readable(new))
        state = self._state(old)
        if found.is_symlink:
            refuse_link_name(new)
        self._changes.put(old, None)
        try:
            refuse_taken(self._changes, new)
        except (InvalidPath, PathClash):
            self._changes.put(old, state)
            raise
        self._changes.put(new, state)

    def delete_folder(self, path: str) -> None:
        below = self._below(path)
        for each in below:
            forge_records.refuse_removal(each)
        for each in below:
            self._changes.put(each, None)

    def rename_folder(self, old: str, new: str) -> None:
        """Every file below it gets the new place. The new one must not be there yet."""
        if new == old:
            return
        if new.startswith(f"{old}/"):
            raise InvalidPath(f"{old} cannot be moved into itself.", hint="Choose a place outside of it.")
        moved = {path: self._state(path) for path in self._below(old)}
        for path in moved:
            forge_records.refuse_writing(new + path[len(old) :])
        before = dict(self.pending)
        self.delete_folder(old)
        try:
            refuse_taken(self._changes, new)
            for path, state in moved.items():
                place = new + path[len(old) :]
                refuse_taken(self._changes, place)
                self._changes.put(place, state)
        except (InvalidPath, PathClash):
            self._changes.restore(before)
            raise

    def set_mode(self, path: str, mode: int) -> None:
        found = file_at(self, path)
        forge_records.refuse_writing(path)
        if found.is_symlink or mode not in (Mode.FILE, Mode.EXECUTABLE):
            raise InvalidPath(f"{path} can be made plain or executable only if it is a file.")
        self._changes.put(path, replace(self._state(path), mode=mode))

    def restore(self, pending: Mapping[str, Pending | None]) -> None:
        """Make exactly what was pending at an earlier moment pending again."""
        self._changes.restore(dict(pending))

    def replace_pending(self, entries: Mapping[str, Entry | None]) -> None:
        """Make exactly `entries` pending; what they need must be in the repository."""
        self.discard()
        for path, entry in entries.items():
            kept = entry is None or entry.is_submodule
            self._changes.put(
                path, Pending(entry.mode, entry.id, None if kept else self.objects.blob(entry.id)) if entry else None
            )

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
        if not self.pending and not allow_empty:
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
        self._changes.base = GitCommitVFS(self.objects, made)
        self.discard()
        return made

    def draft(
        self, message: str, author: Signature, *, without: Callable[[str], bool] | None = None
    ) -> tuple[CommitId, NewObjects]:
        """The commit that pending changes would make, and what of it is not in the repository yet. Writes nothing."""
        tree, new = self._changes.tree(without=without)
        raw = commits.encoded(tree, [self.base] if self.base else [], author, author, message)
        made = CommitId(object_id(ObjectKind.COMMIT, raw))
        new[ObjectId(made)] = RawObject(ObjectKind.COMMIT, raw)
        return made, new

    def content_mark(self) -> str:
        """The same for the same files, pending ones included and Forge's own records left out. Writes nothing."""
        return content_mark(self.objects, *self._changes.tree())

    def catch_up(self) -> None:
        """Take the branch's present tip as the base. Pending changes stay unless the same files changed there."""
        tip = self._refs.tip(self.branch)
        if tip == self.base:
            return
        if tip is None:
            raise BranchMissing(f"{self.branch} was deleted.", hint="Fork a branch and make the change there.")
        fresh = GitCommitVFS(self.objects, tip)
        both = [path for path in self.pending if fresh.entry(path) != self._changes.base.entry(path)]
        if both:
            raise self._changed_there(", ".join(sorted(both)[:5]))
        kept, changes = self._without_old_base(fresh), PendingChanges(fresh)
        try:
            for path, state in sorted(kept.items(), key=lambda item: item[1] is not None):
                if state is not None and fresh.entry(path) is None:
                    writable(changes, path)
                changes.put(path, state)
        except (PathClash, InvalidPath) as e:
            raise self._changed_there(f"What {path} needs") from e
        self._changes = changes

    def _changed_there(self, what: str) -> BranchMoved:
        return BranchMoved(
            f"{what} changed on {self.branch} too.",
            hint="Discard your change of these files, or commit yours on another branch and merge.",
        )

    def _without_old_base(self, fresh: GitCommitVFS) -> dict[str, Pending | None]:
        """Pending changes with the content that only the old base may have: no ref may hold that any more."""
        there = {found.id for path in self.pending if (found := fresh.entry(path)) is not None}
        return {
            path: replace(state, data=self.objects.blob(state.id))
            if state is not None and state.data is None and state.id not in there
            else state
            for path, state in self.pending.items()
        }

    def _state(self, path: str) -> Pending:
        """The file at `path` as it would be committed now."""
        found = file_at(self, path)
        return self._changes.get(path) or Pending(found.mode, found.id, None)

    def _below(self, folder: str) -> list[str]:
        """The files of a folder that can be changed as one."""
        found = self.entry(folder)
        if found is None or not found.is_tree:
            raise missing(folder, "folder")
        files = self.list_files(f"{folder}/")
        if any(entry.is_submodule for _, entry in self.objects.files(found.id)):
            raise PathClash(f"{folder} has another repository in it.", hint="Move or delete that submodule with git.")
        return files
