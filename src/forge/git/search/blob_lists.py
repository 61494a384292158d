"""Which blobs the files of a tree are, kept by folder: after a commit only the changed folders are read again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from forge.git.objects import trees
from forge.git.objects.cache import Cache
from forge.git.values import ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_USUAL = frozenset({b"100644", b"100755"})
_TYPE_BITS, _REGULAR = 0o170000, 0o100000
_KEPT_BYTES = 48 << 20
_ID, _NAME = 8, 200
"""Bytes: the ids of a folder are also in those above it, its names are not."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder's regular files, those below it included. Links and submodules have no lines to search."""

    names: list[str]
    below: list[Folder | None]
    """For each name its folder; None for a file."""
    starts: list[int]
    """For each name where its files begin in `ids`."""
    ids: list[bytes]
    """Raw blob ids of all files in git's order."""

    def files(self) -> list[tuple[str, bytes]]:
        """Path and blob of every file."""
        paths: list[str] = []
        _add_all_paths(paths, self, "")
        return list(zip(paths, self.ids, strict=True))

    def located(self, places: Sequence[int]) -> list[tuple[str, bytes]]:
        """Path and blob of the files at these places in `ids`; `places` are sorted."""
        paths: list[str] = []
        _add_paths(paths, self, places, len(places), shift=0, prefix="")
        return [(path, self.ids[place]) for path, place in zip(paths, places, strict=True)]


def _add_paths(paths: list[str], folder: Folder, places: Sequence[int], stop: int, *, shift: int, prefix: str) -> None:
    """Continue with `paths` up to places[stop] while they are in the folder, whose first file has the place `shift`."""
    names, starts = folder.names, folder.starts
    while len(paths) < stop:
        entry = bisect_right(starts, places[len(paths)] - shift) - 1
        below = folder.below[entry]
        if below is None:
            paths.append(prefix + names[entry])
        else:
            start = shift + starts[entry]
            end = bisect_left(places, start + len(below.ids), len(paths), stop)
            _add_paths(paths, below, places, end, shift=start, prefix=f"{prefix}{names[entry]}/")


def _add_all_paths(paths: list[str], folder: Folder, prefix: str) -> None:
    for name, below in zip(folder.names, folder.below, strict=True):
        if below is None:
            paths.append(prefix + name)
        else:
            _add_all_paths(paths, below, f"{prefix}{name}/")


_kept: WeakKeyDictionary[Objects, Cache[ObjectId, Folder]] = WeakKeyDictionary()


def listing(objects: Objects, tree: ObjectId) -> Folder:
    """The files below `tree`."""
    kept = _kept.get(objects)
    if kept is None:
        kept = _kept.setdefault(objects, Cache(_KEPT_BYTES, _weight))
    known = kept.get(tree)
    if known is None:
        objects.refuse_bomb(tree)
        known = _read(objects, kept, tree)
    return known


def _weight(folder: Folder) -> int:
    return len(folder.ids) * _ID + len(folder.names) * _NAME


def _read(objects: Objects, kept: Cache[ObjectId, Folder], tree: ObjectId) -> Folder:
    known = kept.get(tree)
    if known is not None:
        return known
    raw = objects.raw_tree(tree)
    if _USUAL.issuperset(map(itemgetter(0), raw)):
        names = [name.decode("utf-8", "surrogateescape") for _, name, _ in raw]
        folder = Folder(names, [None] * len(raw), list(range(len(raw))), [oid for _, _, oid in raw])
    else:
        folder = _mixed(objects, kept, raw)
    kept.put(tree, folder)
    return folder


def _mixed(objects: Objects, kept: Cache[ObjectId, Folder], raw: list[trees.RawEntry]) -> Folder:
    """A folder with more than regular files in it."""
    folder = Folder([], [], [], [])
    for mode, name, oid in raw:
        below = None
        if mode not in _USUAL:
            if trees.is_tree(mode):
                below = _read(objects, kept, ObjectId(oid.hex()))
            elif int(mode, 8) & _TYPE_BITS != _REGULAR:
                continue
        folder.names.append(name.decode("utf-8", "surrogateescape"))
        folder.below.append(below)
        folder.starts.append(len(folder.ids))
        if below is None:
            folder.ids.append(oid)
        else:
            folder.ids.extend(below.ids)
    return folder
