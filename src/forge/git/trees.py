"""Trees as git stores them: parsing, and rewriting only the folders that a change touches.

Names are bytes here, so that entries nobody touched, however odd, are written back byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from forge.git.pack import NewObjects, RawObject, object_id
from forge.git.values import EMPTY_TREE, Entry, Kind, Mode, ObjectId

RawEntry = tuple[bytes, bytes, bytes]
"""Mode in octal digits, name, id."""

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_TREE_MODES = (b"40000", b"040000")


def parsed(raw: bytes) -> list[RawEntry]:
    return _ENTRY.findall(raw)


def is_tree(mode: bytes) -> bool:
    return mode in _TREE_MODES


def entry(raw: RawEntry) -> Entry:
    return Entry(int(raw[0], 8), ObjectId(raw[2].hex()))


def encode(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def decode(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


ReadTree = Callable[[ObjectId], list[RawEntry]]
Changes = Mapping[str, Entry | None]
"""New entry by path; None removes the path."""


def rewrite(read: ReadTree, base: ObjectId, changes: Changes) -> tuple[ObjectId, NewObjects]:
    """The id of `base` with `changes` made, and the tree objects that are new."""
    made: NewObjects = {}
    folder = _Folder()
    for path, new in changes.items():
        folder.put(encode(path).split(b"/"), new)
    result = _rewrite(read, base, folder, made)
    if result is None:
        made[EMPTY_TREE] = RawObject(Kind.TREE, b"")
        result = EMPTY_TREE
    return result, made


class _Folder:
    """Changes sorted by folder: those of its own names, and those further down."""

    __slots__ = ("below", "here")

    def __init__(self) -> None:
        self.here: dict[bytes, Entry | None] = {}
        self.below: dict[bytes, _Folder] = {}

    def put(self, names: list[bytes], new: Entry | None) -> None:
        folder = self
        for name in names[:-1]:
            folder = folder.below.setdefault(name, _Folder())
        folder.here[names[-1]] = new


def _rewrite(read: ReadTree, base: ObjectId | None, folder: _Folder, made: NewObjects) -> ObjectId | None:
    entries = {name: (mode, oid) for mode, name, oid in read(base)} if base else {}
    for name, new in folder.here.items():
        if new is None:
            old = entries.get(name)
            # Removing the path of a file says nothing about a folder of that name.
            if old and not (is_tree(old[0]) and name in folder.below):
                del entries[name]
        else:
            entries[name] = (b"%o" % new.mode, bytes.fromhex(new.id))
    for name, below in folder.below.items():
        if folder.here.get(name) is not None:
            continue
        old = entries.get(name)
        subtree = ObjectId(old[1].hex()) if old and is_tree(old[0]) else None
        result = _rewrite(read, subtree, below, made)
        if result is not None:
            entries[name] = (b"%o" % Mode.TREE, bytes.fromhex(result))
        elif subtree:
            del entries[name]
    if not entries:
        return None
    raw = serialized([(mode, name, oid) for name, (mode, oid) in entries.items()])
    tree = object_id(Kind.TREE, raw)
    if tree != base:
        made[tree] = RawObject(Kind.TREE, raw)
    return tree


def serialized(entries: list[RawEntry]) -> bytes:
    """Entries in git's order: a folder sorts as if its name ended in a slash."""
    entries.sort(key=lambda e: e[1] + b"/" if is_tree(e[0]) else e[1])
    return b"".join([b"%s %s\0%s" % e for e in entries])
