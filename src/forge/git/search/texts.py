"""The contents of a tree's blobs, most of them from the cache; the few that a new commit brought are added to it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.search import blob_reader, signatures
from forge.git.search.blob_lists import listing
from forge.git.search.blob_reader import MOST_STORED
from forge.git.search.blob_text import TextCache, View, cache_of
from forge.git.search.segments import SegmentDamaged, Stored, Window
from forge.git.values import ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.search.literals import Literals

_FEW = 512
_FEW_OF = 100
"""A tree counts as warm while it lacks no more than `_FEW` blobs and one of each `_FEW_OF`."""
_COMMON = 3
"""A word is nearly everywhere when it may be in more than one of so many blobs."""


@dataclass(frozen=True, slots=True)
class Texts:
    objects: Objects
    cache: TextCache
    view: View
    fresh: Mapping[bytes, Stored]
    """Blobs that were not in the cache when the search began."""
    possible: AbstractSet[bytes] | None
    """Blobs that may match; None when all may."""

    def larger(self, size: int) -> frozenset[bytes]:
        """Blobs of more than `size` bytes."""
        return self.view.larger(size) | {oid for oid, blob in self.fresh.items() if blob.size > size}

    def text(self, oid: bytes, window: Window) -> bytes | None:
        """What the blob holds; None for a binary one that is too large to be looked into."""
        if oid in self.fresh:
            _, size, text = self.fresh[oid]
        else:
            segment, slot = self.view.place(oid)
            size = segment.sizes[slot]
            try:
                text = segment.text(slot, window)
            except SegmentDamaged as damaged:
                self.cache.discard(damaged)
                return self.objects.blob(ObjectId(oid.hex()))
        if text is None and size > MOST_STORED:
            return self.objects.blob(ObjectId(oid.hex()))
        return text


def texts_of(objects: Objects, tree: ObjectId, literals: Literals) -> Texts | None:
    """Texts of the tree's blobs; None when too few are cached for that to be quicker than asking git."""
    cache = cache_of(objects)
    while True:
        view = cache.view()
        missing = missing_in(objects, tree, view)
        if len(missing) > _FEW + len(listing(objects, tree).ids) // _FEW_OF:
            return None
        # Adding may push out others, but this view and what it has open stay as they are.
        fresh = _added(objects, cache, tree, missing) if missing else {}
        try:
            possible = _possible(view, literals)
        except SegmentDamaged as damaged:
            cache.discard(damaged)
            continue
        return Texts(objects, cache, view, fresh, None if possible is None else possible.union(fresh))


def missing_in(objects: Objects, tree: ObjectId, view: View) -> list[bytes]:
    """Blobs of the tree that the cache does not know, each once, in git's order."""
    known = view.places
    return list(dict.fromkeys([oid for oid in listing(objects, tree).ids if oid not in known]))


def _added(objects: Objects, cache: TextCache, tree: ObjectId, missing: list[bytes]) -> dict[bytes, Stored]:
    blobs = list(blob_reader.stored(objects, missing))
    # The cache only saves time: who may not write, or comes while it is being filled, searches all the same.
    with suppress(OSError), cache.writing(stop=lambda: True) as locked:
        if locked:
            cache.add(blobs, needed=listing(objects, tree).ids)
    return {blob.id: blob for blob in blobs}


def _possible(view: View, literals: Literals) -> set[bytes] | None:
    if not literals.selective:
        return None
    segments = view.segments[:]
    bits = [segment.candidates(literals) for segment in segments]
    # A word that is nearly everywhere is found as quickly by looking everywhere.
    if sum(each.bit_count() for each in bits) * _COMMON > sum(len(segment.ids) for segment in segments):
        return None
    found: set[bytes] = set()
    for segment, each in zip(segments, bits, strict=True):
        found.update(signatures.chosen(segment.ids, each))
    # Of blobs that are known but not kept nothing tells what is in them.
    return found | view.larger(MOST_STORED)
