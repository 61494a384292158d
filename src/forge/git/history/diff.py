"""Which files differ between two trees, or between a tree and what is pending on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from stat import S_IFMT, S_ISREG
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import DiffOption

from forge.git.history import renames as rename_search
from forge.git.objects.contents import Contents
from forge.git.objects.tree_diff import ChangedEntry, changed_entries
from forge.git.values import Entry, Mode, ObjectId
from forge.git.workspace.paths import readable

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_USUAL = (Mode.FILE, Mode.EXECUTABLE)


class ChangeKind(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs. `patch.patch_text` and `patch.hunks` give its text."""

    kind: ChangeKind
    old_path: str | None
    new_path: str | None
    old: Entry | None
    new: Entry | None
    similarity: int | None = None
    """Percent, of renamed and copied files."""
    binary: bool | None = None
    additions: int | None = None
    deletions: int | None = None
    """Lines; these three are None where they were not counted."""

    @property
    def path(self) -> str:
        path = self.old_path if self.new_path is None else self.new_path
        assert path is not None
        return path


def diff(
    objects: Objects,
    old_tree: ObjectId | None,
    new_tree: ObjectId | None,
    *,
    paths: Sequence[str] = (),
    renames: bool = True,
    copies: bool = False,
    counts: bool = True,
) -> tuple[FileChange, ...]:
    """The files that differ, by path, below `paths` if given. Without `counts` hardly any blob is read."""
    contents = Contents(objects)
    entries = _below(objects, old_tree, new_tree, paths) if paths else changed_entries(objects, old_tree, new_tree)
    return _described(contents, entries, renames=renames, copies=copies, counts=counts)


def line_patch(old: bytes, new: bytes, *, context: int = 3) -> pygit2.Patch:
    """Two texts compared line by line, as git compares them."""
    flag = DiffOption.FORCE_TEXT | DiffOption.INDENT_HEURISTIC
    return pygit2.Patch.create_from(
        old, new, old_as_path="a", new_as_path="b", flag=flag, context_lines=context, interhunk_lines=0
    )


def _described(
    contents: Contents, entries: Iterable[ChangedEntry], *, renames: bool, copies: bool, counts: bool
) -> tuple[FileChange, ...]:
    changes = [change for entry in entries if (change := _change(*entry))]
    if renames:
        changes = _with_renames(contents, changes, copies=copies)
    return tuple(_counted(contents, change) if counts else change for change in changes)


def _change(path: str, old: Entry | None, new: Entry | None) -> FileChange | None:
    old, new = _canonical(old), _canonical(new)
    if old == new:
        return None
    if old is None:
        return FileChange(ChangeKind.ADDED, None, path, None, new)
    if new is None:
        return FileChange(ChangeKind.DELETED, path, None, old, None)
    same_type = S_IFMT(old.mode) == S_IFMT(new.mode)
    return FileChange(ChangeKind.MODIFIED if same_type else ChangeKind.TYPE_CHANGED, path, path, old, new)


def _canonical(entry: Entry | None) -> Entry | None:
    """Old tools wrote modes such as 100664; git reads them as one of the two that count."""
    if entry is None or entry.mode in _USUAL or not S_ISREG(entry.mode):
        return entry
    return Entry(Mode.EXECUTABLE if entry.mode & 0o100 else Mode.FILE, entry.id)


def _with_renames(contents: Contents, changes: list[FileChange], *, copies: bool) -> list[FileChange]:
    gone = {change.old_path for change in changes if change.kind is ChangeKind.DELETED}
    old = [(c.old_path, c.old) for c in changes if c.old_path is not None and c.old and (copies or c.old_path in gone)]
    new = [(c.new_path, c.new) for c in changes if c.kind is ChangeKind.ADDED and c.new_path is not None and c.new]
    if not old or not new:
        return changes
    lasting = {path for path, _ in old if path not in gone}
    found = rename_search.sources(contents, old, new, copies=copies, lasting=lasting)
    # A deleted file that lives on in several places was moved to the last one and copied to the others.
    moved = {found[path].path: path for path, _ in new if path in found and found[path].path in gone}
    described: list[FileChange] = []
    for change in changes:
        source = found.get(change.path)
        if source:
            kind = ChangeKind.RENAMED if moved.get(source.path) == change.path else ChangeKind.COPIED
            described.append(
                replace(change, kind=kind, old_path=source.path, old=source.entry, similarity=source.percent)
            )
        elif change.kind is not ChangeKind.DELETED or change.path not in moved:
            described.append(change)
    return described


def _counted(contents: Contents, change: FileChange) -> FileChange:
    old, new = change.old, change.new
    if contents.is_binary(old) or contents.is_binary(new):
        return replace(change, binary=True, additions=0, deletions=0)
    before, after = contents.data(old), contents.data(new)
    if not before or not after or before == after:
        added, deleted = (_lines(after), _lines(before)) if before != after else (0, 0)
    else:
        _, added, deleted = line_patch(before, after, context=0).line_stats
    return replace(change, binary=False, additions=added, deletions=deleted)


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def _below(
    objects: Objects, old_tree: ObjectId | None, new_tree: ObjectId | None, paths: Sequence[str]
) -> Iterator[ChangedEntry]:
    """Only what is at or under `paths`; nothing else is looked at."""
    wanted = sorted({readable(path.rstrip("/")) for path in paths}, key=lambda p: p.encode("utf-8", "surrogateescape"))
    for path in wanted:
        if any(path.startswith(f"{above}/") for above in wanted):
            continue
        old = objects.entry(old_tree, path) if old_tree else None
        new = objects.entry(new_tree, path) if new_tree else None
        old_file, new_file = _not_tree(old), _not_tree(new)
        if old_file != new_file:
            yield path, old_file, new_file
        old_folder = old.id if old and old.is_tree else None
        new_folder = new.id if new and new.is_tree else None
        for inner, before, after in changed_entries(objects, old_folder, new_folder):
            yield f"{path}/{inner}", before, after


def _not_tree(entry: Entry | None) -> Entry | None:
    return None if entry is None or entry.is_tree else entry
