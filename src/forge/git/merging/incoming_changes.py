"""What one side of a merge brings, and what of it the other side can take without looking at contents.

Forge's own records (sessions, approvals) never conflict and are never mixed line by line: one side's file wins. What a
merge brings of them proves nothing: an approval counts only with a record outside of every branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.merging.git_merge import above
from forge.git.objects import trees
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.objects.tree_diff import ChangedEntry, changed_entries
from forge.git.values import Entry, Mode, ObjectId, ObjectKind
from forge.git.workspace.forge_records import FOLDER, is_record, is_session

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

Taken = dict[str, Entry | None]
"""What to change in our tree, by path; None removes the path."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """What one side changed since the base, and which folders matter when it meets the other side."""

    base: ObjectId
    tree: ObjectId
    changes: tuple[ChangedEntry, ...]
    sessions: tuple[ChangedEntry, ...]
    entered: tuple[tuple[str, bool], ...]
    """Folders above added files, and whether the base has them."""
    left: tuple[tuple[str, ObjectId], ...]
    """Folders of the base that are gone, as the base has them."""


def incoming(
    objects: Objects, base: ObjectId, tree: ObjectId, every: tuple[ChangedEntry, ...] | None = None
) -> Incoming:
    """What `tree` brings; `every` are its changes where they are known already."""
    if every is None:
        every = tuple(changed_entries(objects, base, tree))
    changes = tuple(change for change in every if not is_record(change[0]))
    entered = {folder for path, old, _ in changes if old is None for folder in above(path)}
    emptied = {folder for path, _, new in changes if new is None for folder in above(path)}
    return Incoming(
        base,
        tree,
        changes,
        tuple(change for change in every if is_record(change[0])),
        tuple((folder, folder_at(objects, base, folder) is not None) for folder in sorted(entered)),
        tuple(_left(objects, base, tree, emptied)),
    )


def _left(objects: Objects, base: ObjectId, tree: ObjectId, emptied: set[str]) -> Iterator[tuple[str, ObjectId]]:
    for folder in sorted(emptied):
        was = folder_at(objects, base, folder)
        if was is not None and folder_at(objects, tree, folder) is None:
            yield folder, was


def folder_at(objects: Objects, tree: ObjectId, path: str) -> ObjectId | None:
    found = objects.entry(tree, path)
    return found.id if found is not None and found.is_tree else None


def taken(objects: Objects, theirs: Incoming, ours: ObjectId) -> Taken | None:
    """The changes of `theirs` that our tree has to take; None if git must look at contents or renames.

    Every file that they changed is as in the base here, or changed alike, and no folder was moved away under an
    added file: then no rename on either side can lead to another result.
    """
    result: Taken = {}
    for path, old, new in theirs.changes:
        here = objects.entry(ours, path)
        if here == old:
            result[path] = new
        elif here != new or here is None:
            # Gone from both sides: each may have moved it elsewhere.
            return None
    return result if folders_fit(objects, theirs, ours) else None


def folders_fit(objects: Objects, theirs: Incoming, ours: ObjectId) -> bool:
    """Whether the folders that `theirs` enters or leaves are in our tree as they must be."""
    for folder, in_base in theirs.entered:
        here = objects.entry(ours, folder)
        if (here is None and in_base) or _is_file(here):
            return False
    return all(folder_at(objects, ours, folder) == was for folder, was in theirs.left)


def may_have_moved(objects: Objects, theirs: Incoming, ours: ObjectId) -> bool:
    """Whether a file that they edited is not where it was on our side: then it may be anywhere."""
    return any(old and new and objects.entry(ours, path) is None for path, old, new in theirs.changes)


def taken_sessions(objects: Objects, theirs: Incoming, ours: ObjectId, *, prefer_theirs: bool) -> Taken:
    """The changes of conversation files to take: changed on both sides, the preferred side's file stays."""
    result: Taken = {}
    for path, old, new in theirs.sessions:
        here = objects.entry(ours, path)
        if here is not None and here.is_tree:
            continue
        blocked = (f for f in above(path) if _is_file(objects.entry(ours, f)))
        if any(result.get(folder, new) is not None for folder in blocked):
            continue
        if here in (old, None) or (prefer_theirs and new is not None):
            result[path] = new
    return result


def _is_file(found: Entry | None) -> bool:
    return found is not None and not found.is_tree


def with_sessions(
    objects: Objects,
    merged: ObjectId,
    ours: ObjectId,
    sessions: Mapping[str, Entry | None],
    is_meant: Callable[[str], bool] = is_record,
) -> tuple[ObjectId, NewObjects]:
    """The tree `merged` with the records of `ours`, changed by `sessions`, in place of its own."""
    wanted, made = trees.rewrite(objects.raw_tree, ours, sessions)
    wanted_names = _record_names(objects, wanted, made, is_meant)
    present = _record_names(objects, merged, {}, is_meant)
    if wanted_names == present or _is_file(objects.entry(merged, FOLDER)):
        return merged, {}
    graft = {f"{FOLDER}/{name}": wanted_names.get(name) for name in {*wanted_names, *present}}
    tree, more = trees.rewrite(objects.raw_tree, merged, graft)
    return tree, made | more


def without_conversation(
    objects: Objects, merged: ObjectId, ours: ObjectId, instead: Mapping[str, bytes]
) -> tuple[ObjectId, NewObjects]:
    """The tree `merged` with the conversation of `ours` and the files `instead` in place of its own."""
    blobs = {path: RawObject(ObjectKind.BLOB, data) for path, data in instead.items()}
    files: dict[str, Entry | None] = {
        path: Entry(Mode.FILE, object_id(ObjectKind.BLOB, raw.data)) for path, raw in blobs.items()
    }
    tree, made = with_sessions(objects, merged, ours, files, is_session)
    return tree, made | {object_id(ObjectKind.BLOB, raw.data): raw for raw in blobs.values()}


def brings_session(objects: Objects, ours: ObjectId, theirs: ObjectId) -> bool:
    """Whether the tree `theirs` has files of a conversation that `ours` has not, or not so."""
    here, there = (_record_names(objects, each, {}, is_session) for each in (ours, theirs))
    return any(here.get(name) != entry for name, entry in there.items())


def _record_names(
    objects: Objects, tree: ObjectId, made: NewObjects, is_meant: Callable[[str], bool]
) -> dict[str, Entry]:
    """What `.forge` holds directly of Forge's own records, of those that are meant."""

    def names(oid: ObjectId) -> Mapping[str, Entry]:
        if oid not in made:
            return objects.tree(oid)
        return {trees.decode(raw[1]): trees.entry(raw) for raw in trees.parsed(made[oid].data)}

    folder = names(tree).get(FOLDER)
    if folder is None or not folder.is_tree:
        return {}
    return {name: entry for name, entry in names(folder.id).items() if is_meant(f"{FOLDER}/{name}")}
