"""One word for the content of a workspace, by which results that follow from its files are found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge.git.objects import trees
from forge.git.values import ObjectId
from forge.git.workspace import forge_records

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.objects.raw_object import NewObjects


def content_mark(objects: Objects, tree: ObjectId, new: NewObjects) -> str:
    """Of a tree whose objects may be `new` still. A turn's conversation in the branch does not change it."""
    mark = hashlib.sha256()
    for line in _lines(objects, tree, new, ""):
        mark.update(line)
    return mark.hexdigest()


def _lines(objects: Objects, tree: ObjectId, new: NewObjects, folder: str) -> Iterator[bytes]:
    raw = trees.parsed(new[tree].data, tree) if tree in new else objects.raw_tree(tree)
    for mode, name, entry in raw:
        path = folder + trees.decode(name)
        if path == forge_records.FOLDER and trees.is_tree(mode):
            yield from _lines(objects, ObjectId(entry.hex()), new, f"{path}/")
        elif not forge_records.is_record(path):
            yield b"%s %s\0%s" % (mode, trees.encode(path), entry)
