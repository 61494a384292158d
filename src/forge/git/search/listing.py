"""Which blobs the files of a tree are, kept by folder: after a commit only the changed folders are read again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from forge.git import trees
from forge.git.objects import Cache, Objects
from forge.git.values import ObjectId

_USUAL = (b"100644", b"100755")
_TYPE_BITS, _REGULAR = 0o170000, 0o100000
_MOST_IDS = 8 << 20


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder's regular files, those below it included. Links and submodules have no lines to search."""

    names: list[bytes]
    below: list[Folder | None]
    """For each name its folder; None for a file."""
    starts: list[int]
    """For each name where its files begin in `ids`."""
    ids: list[bytes]
    """Raw blob ids of all files in git's order."""

    def located(self, places: Sequence[int]) -> Iterator[tuple[str, bytes]]:
        """Path and blob of the files at these places in `ids`; `places` are sorted."""
        for path, place in zip(_paths(self, places, range(len(places)), 0, b""), places, strict=True):
            yield path.decode("utf-8", "surrogateescape"), self.ids[place]


def _paths(folder: Folder, places: Sequence[int], part: range, shift: int, prefix: bytes) -> Iterator[bytes]:
    """Paths of the `part` of places that are in the folder; its first file has the place `shift`."""
    low, high = part.start, part.stop
    while low < high:
        entry = bisect_right(folder.starts, places[low] - shift) - 1
        name, below = folder.names[entry], folder.below[entry]
        if below is None:
            yield prefix + name
            low += 1
        else:
            start = shift + folder.starts[entry]
            end = bisect_left(places, start + len(below.ids), low, high)
            yield from _paths(below, places, range(low, end), start, prefix + name + b"/")
            low = end


_kept: WeakKeyDictionary[Objects, Cache[ObjectId, Folder]] = WeakKeyDictionary()


def listing(objects: Objects, tree: ObjectId) -> Folder:
    """The files below `tree`."""
    kept = _kept.get(objects)
    if kept is None:
        kept = _kept.setdefault(objects, Cache(_MOST_IDS, lambda folder: len(folder.ids) + len(folder.names) + 1))
    known = kept.get(tree)
    if known is None:
        # Asking for a first file makes sure that the tree is not one that explodes when it is listed.
        next(objects.files(tree), None)
        known = _read(objects, kept, tree)
    return known


def _read(objects: Objects, kept: Cache[ObjectId, Folder], tree: ObjectId) -> Folder:
    known = kept.get(tree)
    if known is not None:
        return known
    folder = Folder([], [], [], [])
    for mode, name, oid in objects.raw_tree(tree):
        below = None
        if mode not in _USUAL:
            if trees.is_tree(mode):
                below = _read(objects, kept, ObjectId(oid.hex()))
            elif int(mode, 8) & _TYPE_BITS != _REGULAR:
                continue
        folder.names.append(name)
        folder.below.append(below)
        folder.starts.append(len(folder.ids))
        if below is None:
            folder.ids.append(oid)
        else:
            folder.ids.extend(below.ids)
    kept.put(tree, folder)
    return folder
