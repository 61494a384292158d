"""Trees as git stores them: parsing, and rewriting only the folders that a change touches.

Names are bytes here, so that entries nobody touched, however odd, are written back byte for byte.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from forge.git.errors import RepositoryUnreadable
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.values import EMPTY_TREE, Entry, Mode, ObjectId, ObjectKind

# A few bytes of trees can name each other into billions of files; nobody works on such a repository.
MAX_FILES = 5_000_000
MAX_DEPTH = 256

RawEntry = tuple[bytes, bytes, bytes]
"""Mode in octal digits, name, id."""

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_WHOLE = re.compile(rb"(?:[0-7]++ [^\0]++\0.{20})*+", re.DOTALL)
_TYPE_BITS = 0o170000
_USUAL = {b"%o" % mode: mode for mode in (Mode.FILE, Mode.EXECUTABLE, Mode.SYMLINK, Mode.SUBMODULE, Mode.TREE)}


def parsed(raw: bytes, tree: ObjectId | None = None) -> list[RawEntry]:
    """Every entry of a tree. Of a malformed one nothing: written back, the part that was skipped would be lost."""
    if not _WHOLE.fullmatch(raw):
        raise RepositoryUnreadable(
            f"The tree {tree or 'that was read'} is malformed.", hint="Run `git fsck` on the repository."
        )
    return _ENTRY.findall(raw)


def is_tree(mode: bytes) -> bool:
    return mode == b"40000" or int(mode, 8) & _TYPE_BITS == Mode.TREE


def is_submodule(mode: bytes) -> bool:
    return mode == b"160000" or int(mode, 8) == Mode.SUBMODULE


def entry(raw: RawEntry) -> Entry:
    # Old programs wrote permission bits into the mode of folders, too.
    return Entry(Mode.TREE if is_tree(raw[0]) else int(raw[0], 8), ObjectId(raw[2].hex()))


def entries(raw: list[RawEntry]) -> dict[str, Entry]:
    """Entries by name. One loop without calls: this is done for every folder on the way to a file."""
    return {
        name.decode("utf-8", "surrogateescape"): Entry(_USUAL[mode], ObjectId(oid.hex()))
        if mode in _USUAL
        else entry((mode, name, oid))
        for mode, name, oid in raw
    }


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
        made[EMPTY_TREE] = RawObject(ObjectKind.TREE, b"")
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
    known = read(base) if base else []
    entries = {name: (mode, oid) for mode, name, oid in known}
    if len(entries) != len(known):
        raise _doubled(base, known)
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
    tree = object_id(ObjectKind.TREE, raw)
    if tree != base:
        made[tree] = RawObject(ObjectKind.TREE, raw)
    return tree


def serialized(entries: list[RawEntry]) -> bytes:
    """Entries in git's order: a folder sorts as if its name ended in a slash."""
    entries.sort(key=lambda e: e[1] if e[0] == b"100644" else e[1] + b"/" if is_tree(e[0]) else e[1])
    return b"".join([b"%s %s\0%s" % e for e in entries])


def _doubled(tree: ObjectId | None, entries: list[RawEntry]) -> RepositoryUnreadable:
    ((twice, _),) = Counter(name for _, name, _ in entries).most_common(1)
    return RepositoryUnreadable(
        f"The tree {tree} has the name {decode(twice)!r} twice; it is not rewritten, one of them would be lost.",
        hint="Run `git fsck` on the repository, and repair that folder with git.",
    )
