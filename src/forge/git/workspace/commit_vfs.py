"""Files of a repository as seen at one commit. Nothing is checked out to read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from forge.git.errors import FileMissing, InvalidPath, NotText, ReadOnlyView
from forge.git.refs.near_names import did_you_mean
from forge.git.values import EMPTY_TREE, CommitId, Entry, Mode, ObjectId
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_SNIFF = 8000


class DirKind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class DirEntry:
    name: str
    kind: DirKind
    mode: int


class VFS(ABC):
    """The one way to the content of a repository, for people and agents alike."""

    objects: Objects
    branch: str | None
    """The branch that it is a view of; None where only a commit was named."""

    @property
    @abstractmethod
    def base(self) -> CommitId | None:
        """The commit that is seen, below pending changes; None in an empty repository."""

    @abstractmethod
    def read_bytes(self, path: str) -> bytes:
        """The content of a file, whatever it is. Of a symlink: where it points."""

    @abstractmethod
    def list_files(self, prefix: str = "") -> list[str]:
        """Every file whose path begins with `prefix`, sorted as git sorts. Submodules are no files."""

    @abstractmethod
    def list_dir(self, path: str = "") -> tuple[DirEntry, ...]:
        """What is directly in a folder; the root is the empty path."""

    @abstractmethod
    def entry(self, path: str) -> Entry | None:
        """Mode and id of what `path` names: a file, a symlink, a submodule, a folder, or nothing."""

    @abstractmethod
    def write_bytes(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Write a whole file; a new one is plain unless `mode` says otherwise, an old one keeps its mode."""

    @abstractmethod
    def write_record(self, path: str, data: bytes) -> None:
        """Write one of Forge's own records. For Forge's own functions only: every other way refuses those paths."""

    @abstractmethod
    def delete_file(self, path: str) -> None: ...

    @abstractmethod
    def rename_file(self, old: str, new: str) -> None: ...

    @abstractmethod
    def set_mode(self, path: str, mode: int) -> None:
        """Make a file executable (`Mode.EXECUTABLE`) or plain (`Mode.FILE`)."""

    def read_file(self, path: str) -> str:
        """The text of a file; `NotText` if it is binary or not UTF-8."""
        data = self.read_bytes(path)
        if b"\0" in data[:_SNIFF]:
            raise _not_text(path, "it is binary")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as e:
            raise _not_text(path, f"it is not UTF-8 (byte {e.start})") from e

    def write_file(self, path: str, content: str) -> None:
        """Write text as it is: line endings and a missing last newline are kept."""
        try:
            data = content.encode("utf-8")
        except UnicodeEncodeError as e:
            raise _not_text(path, "the text cannot be written as UTF-8") from e
        self.write_bytes(path, data)

    def file_exists(self, path: str) -> bool:
        try:
            found = self.entry(path)
        except InvalidPath:
            return False
        return found is not None and is_file(found)

    def mode(self, path: str) -> int:
        found = self.entry(path)
        if found is None:
            raise missing(path)
        return found.mode


class GitCommitVFS(VFS):
    """Read-only view of one commit; with no commit, of an empty repository."""

    def __init__(self, objects: Objects, commit: CommitId | None, *, branch: str | None = None) -> None:
        self.objects = objects
        self.commit = commit
        self.branch = branch
        self.tree: ObjectId = objects.commit(commit).tree if commit else EMPTY_TREE
        self._entries: dict[str, Entry] = {}

    @property
    def base(self) -> CommitId | None:
        return self.commit

    def read_bytes(self, path: str) -> bytes:
        return self.objects.blob(file_at(self, path).id)

    def entry(self, path: str) -> Entry | None:
        found = self._entries.get(path)
        if found is None:
            found = self.objects.entry(self.tree, paths.readable(path))
            if found is not None:
                self._entries[path] = found
        return found

    def list_files(self, prefix: str = "") -> list[str]:
        folder, slash, start = prefix.rpartition("/")
        above = self.objects.entry(self.tree, folder) if slash else Entry(Mode.TREE, self.tree)
        if above is None or not above.is_tree:
            return []
        if not start:
            return self.objects.paths(above.id, prefix)
        found: list[str] = []
        for name, entry in self.objects.tree(above.id).items():
            if name.startswith(start):
                if entry.is_tree:
                    found += self.objects.paths(entry.id, f"{folder}{slash}{name}/")
                elif not entry.is_submodule:
                    found.append(f"{folder}{slash}{name}")
        return found

    def list_dir(self, path: str = "") -> tuple[DirEntry, ...]:
        tree = self.tree
        if path:
            found = self.entry(path.rstrip("/"))
            if found is None or not found.is_tree:
                raise missing(path, "folder")
            tree = found.id
        return tuple(dir_entry(name, entry) for name, entry in self.objects.tree(tree).items())

    def write_bytes(self, path: str, data: bytes, *, mode: int | None = None) -> None:  # noqa: ARG002
        raise self._read_only()

    def write_record(self, path: str, data: bytes) -> None:  # noqa: ARG002
        raise self._read_only()

    def delete_file(self, path: str) -> None:  # noqa: ARG002
        raise self._read_only()

    def rename_file(self, old: str, new: str) -> None:  # noqa: ARG002
        raise self._read_only()

    def set_mode(self, path: str, mode: int) -> None:  # noqa: ARG002
        raise self._read_only()

    def _read_only(self) -> ReadOnlyView:
        return ReadOnlyView(
            f"Commit {(self.commit or 'none')[:7]} cannot be changed.",
            hint="Open a workspace on a branch to edit.",
        )


def file_at(vfs: VFS, path: str) -> Entry:
    found = vfs.entry(path)
    if found is None:
        raise missing(path, near=did_you_mean(path, vfs.list_files()))
    if not is_file(found):
        raise FileMissing(
            f"{path} is a {dir_entry('', found).kind}, not a file.", hint="List it to see the files in it."
        )
    return found


def is_file(entry: Entry) -> bool:
    return not entry.is_tree and not entry.is_submodule


def dir_entry(name: str, entry: Entry) -> DirEntry:
    kinds = {Mode.TREE: DirKind.DIRECTORY, Mode.SYMLINK: DirKind.SYMLINK, Mode.SUBMODULE: DirKind.SUBMODULE}
    return DirEntry(name, kinds.get(entry.mode, DirKind.FILE), entry.mode)


def missing(path: str, what: str = "file", *, near: str = "") -> FileMissing:
    return FileMissing(f"There is no {what} {path}.", hint=f"{near}List the files first.")


def _not_text(path: str, why: str) -> NotText:
    return NotText(f"{path} cannot be used as text: {why}.", hint="Read or write it as bytes.")


def sorted_names(entries: Sequence[DirEntry]) -> tuple[DirEntry, ...]:
    """Folder entries in git's order."""
    return tuple(
        sorted(
            entries,
            key=lambda e: (e.name + ("/" if e.kind is DirKind.DIRECTORY else "")).encode("utf-8", "surrogateescape"),
        )
    )
