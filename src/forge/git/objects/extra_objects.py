"""What one tree has that others do not: the objects that must come along when only those others are sure to stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forge.git.objects.raw_object import NewObjects, RawObject
from forge.git.objects.trees import is_tree
from forge.git.values import EMPTY_TREE, Mode, ObjectId, ObjectKind

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_SUBMODULE = b"%o" % Mode.SUBMODULE


def beyond(objects: Objects, tree: ObjectId, known: list[ObjectId]) -> NewObjects:
    """Every object below `tree` that is not at the same path below one of the trees in `known`.

    Also those that the repository has already: a gc of somebody else may be about to take what no branch needs.
    """
    found: NewObjects = {}
    _collect(objects, tree, known, found)
    return found


def _collect(objects: Objects, tree: ObjectId, known: list[ObjectId], found: NewObjects) -> None:
    if tree in known:
        return
    found[tree] = objects.read(tree) if tree != EMPTY_TREE else RawObject(ObjectKind.TREE, b"")
    there = [{name: (mode, oid) for mode, name, oid in objects.raw_tree(k)} for k in known]
    for mode, name, oid in objects.raw_tree(tree):
        beside = [entries[name] for entries in there if name in entries]
        if is_tree(mode):
            below = [ObjectId(o.hex()) for m, o in beside if is_tree(m)]
            _collect(objects, ObjectId(oid.hex()), below, found)
        elif mode != _SUBMODULE and not any(o == oid for _, o in beside):
            found[ObjectId(oid.hex())] = objects.read(ObjectId(oid.hex()))
