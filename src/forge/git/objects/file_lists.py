"""Every path below a tree. Kept by folder, so that after a change only its folders are read and joined again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from forge.git.errors import RepositoryUnreadable
from forge.git.objects import trees
from forge.git.objects.cache import Cache
from forge.git.objects.object_reader import read_many
from forge.git.objects.raw_object import object_id
from forge.git.objects.trees import MAX_DEPTH, MAX_FILES
from forge.git.values import EMPTY_TREE, ObjectId, ObjectKind

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

MAX_LISTED_BYTES = 1 << 30

_USUAL_FILES = frozenset({b"100644", b"100755", b"120000"})
_FILE = re.compile(rb"(?:100644|100755|120000) ([^\0]+)\0.{20}", re.DOTALL)
_AROUND_NAME = len(b"100644 ") + len(b"\0") + 20
_FEW = 64
"""Folders on one level that are read as quickly without a process of their own."""
_KEPT_BYTES = 32 << 20
_LARGE = 64 << 10
_KEPT_LARGE_BYTES = 24 << 20
"""Each commit has a new list at its root; those of the last few are enough, for the rest is joined from their parts."""
_KEPT_EXTENTS = 16 << 20
_EXTENT = 200


class _Known(Protocol):
    def get(self, key: ObjectId, /) -> object | None: ...


class Extent(NamedTuple):
    """What is below a folder, folders and submodules counted too: how many, how long their paths, how deep."""

    entries: int
    size: int
    height: int


class _Paths:
    """The texts of lists, by folder."""

    def __init__(self) -> None:
        self._small: Cache[ObjectId, bytes] = Cache(_KEPT_BYTES, len)
        self._large: Cache[ObjectId, bytes] = Cache(_KEPT_LARGE_BYTES, len)

    def get(self, tree: ObjectId) -> bytes | None:
        small = self._small.get(tree)
        return self._large.get(tree) if small is None else small

    def put(self, tree: ObjectId, paths: bytes) -> None:
        (self._large if len(paths) > _LARGE else self._small).put(tree, paths)


class FileLists:
    """What is known of the folders of one repository.

    A list is one text with a NUL before each path: one call puts a folder's name before all of them, and no objects
    are made but for the list that is asked for.
    """

    def __init__(self) -> None:
        self._paths = _Paths()
        self._extents: Cache[ObjectId, Extent] = Cache(_KEPT_EXTENTS, lambda _: _EXTENT)

    def paths(self, objects: Objects, tree: ObjectId, prefix: str = "") -> list[str]:
        """Every file below `tree`, in git's order, with `prefix` before its path."""
        known = self._paths.get(tree)
        if known is None:
            self._read_ahead(objects, tree, self._paths)
            self._count(objects, tree)
            known = self._listed(objects, tree)
        text = known.decode("utf-8", "surrogateescape")
        found = (text.replace("\0", "\0" + prefix) if prefix else text).split("\0")
        del found[0]  # what is before the first NUL
        return found

    def refuse_bomb(self, objects: Objects, tree: ObjectId) -> None:
        """Raise if a list of what is below `tree` would exhaust memory."""
        if self._extents.get(tree) is None:
            self._read_ahead(objects, tree, self._extents)
        self._count(objects, tree)

    def _count(self, objects: Objects, tree: ObjectId) -> None:
        """Count before listing: what a list would take is known without making it."""
        extent = self._extents.get(tree) or self._extent(objects, tree, 0)
        if extent.entries > MAX_FILES or extent.size > MAX_LISTED_BYTES or extent.height > MAX_DEPTH:
            raise _bomb()

    def _extent(self, objects: Objects, tree: ObjectId, depth: int) -> Extent:
        if depth > MAX_DEPTH:
            raise _bomb()
        raw = objects.raw_tree(tree)
        entries, size, height = len(raw), sum(map(len, map(itemgetter(1), raw))), 0
        for name, oid in _folders(raw):
            below = self._extents.get(oid) or self._extent(objects, oid, depth + 1)
            entries += below.entries
            size += below.size + below.entries * (len(name) + 1)
            height = max(height, below.height + 1)
        extent = Extent(entries, size, height)
        self._extents.put(tree, extent)
        return extent

    def _listed(self, objects: Objects, tree: ObjectId) -> bytes:
        found: list[bytes] = []
        for mode, name, oid in objects.raw_tree(tree):
            if mode in _USUAL_FILES:
                found.append(b"\0" + name)
            elif trees.is_tree(mode):
                folder = ObjectId(oid.hex())
                below = self._paths.get(folder)
                if below is None:
                    below = self._listed(objects, folder)
                found.append(below.replace(b"\0", b"\0%s/" % name))
            elif not trees.is_submodule(mode):  # that is no file of this repository
                found.append(b"\0" + name)
        paths = b"".join(found)
        self._paths.put(tree, paths)
        return paths

    def _read_ahead(self, objects: Objects, tree: ObjectId, known: _Known) -> None:
        """Read the folders that are not `known`, level by level, so that many are asked for at once."""
        level, seen = [tree], {tree, EMPTY_TREE}
        for _ in range(MAX_DEPTH):
            unknown = [oid for oid in level if known.get(oid) is None]
            if len(unknown) <= _FEW:
                read: Iterator[list[trees.RawEntry]] = map(objects.raw_tree, unknown)
            else:
                read = self._read_many(objects, unknown, lists=known is self._paths)
            level = []
            for raw in read:
                for _, oid in _folders(raw):
                    if oid not in seen:
                        seen.add(oid)
                        level.append(oid)
            if not level:
                break

    def _read_many(self, objects: Objects, ids: list[ObjectId], *, lists: bool) -> Iterator[list[trees.RawEntry]]:
        """The entries of folders; with `lists`, of those that hold nothing but files only their list is kept."""
        with closing(read_many(objects, ids)) as read:
            for oid, (_, data) in zip(ids, read, strict=True):
                if lists and self._is_list(oid, data):
                    continue
                # Commits are made from entries: they are kept only if they are what the id says.
                sound = object_id(ObjectKind.TREE, data) == oid
                yield objects.keep_tree(oid, data) if sound else objects.raw_tree(oid)

    def _is_list(self, oid: ObjectId, data: bytes) -> bool:
        names = _FILE.findall(data)
        paths = b"\0".join([b"", *names])
        size = len(paths) - len(names)
        if size + len(names) * _AROUND_NAME != len(data):
            return False
        self._paths.put(oid, paths)
        self._extents.put(oid, Extent(len(names), size, 0))
        return True


def _folders(raw: list[trees.RawEntry]) -> list[tuple[bytes, ObjectId]]:
    return [(name, ObjectId(oid.hex())) for mode, name, oid in raw if mode not in _USUAL_FILES and trees.is_tree(mode)]


def _bomb() -> RepositoryUnreadable:
    return RepositoryUnreadable(
        f"The tree is nested deeper than {MAX_DEPTH} folders or has more than {MAX_FILES:,} files.",
        hint="This looks like a repository made to exhaust memory; Forge does not list it.",
    )
