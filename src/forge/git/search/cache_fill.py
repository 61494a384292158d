"""Fills the text cache, so that the next searches need not ask git."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.process import disk
from forge.git.search import blob_reader, segments
from forge.git.search.blob_lists import listing
from forge.git.search.blob_text import cache_of
from forge.git.search.texts import missing_in

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.search.segments import Stored
    from forge.git.values import ObjectId

_LOOK_UP = 256
"""Blobs between two looks at whether to stop."""


@dataclass(frozen=True, slots=True)
class Warmth:
    added: int
    missing: int
    """Blobs of the tree that the cache still does not have: it was stopped, or its budget is used up."""


def is_warm(objects: Objects, tree: ObjectId) -> bool:
    """Whether the cache has every blob of `tree`."""
    return not missing_in(objects, tree, cache_of(objects).view())


def warm(
    objects: Objects,
    tree: ObjectId,
    *,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] | None = None,
) -> Warmth:
    """Put every blob of `tree` into the cache. May run beside searches and other processes; what it has done stays.

    `stop` is asked now and then; `progress` is told how many blobs of how many are done.
    """
    cache = cache_of(objects)
    added = 0
    if not is_warm(objects, tree):
        with disk.reporting(), cache.writing(stop=stop) as locked:
            if locked:
                added = _fill(objects, tree, stop=stop, progress=progress)
                cache.tidy()
    return Warmth(added, len(missing_in(objects, tree, cache.view())))


def _fill(
    objects: Objects, tree: ObjectId, *, stop: Callable[[], bool], progress: Callable[[int, int], None] | None
) -> int:
    cache, needed = cache_of(objects), listing(objects, tree).ids
    added = 0
    # Somebody else may have filled it while we waited; and what we add may push out what was there.
    while missing := missing_in(objects, tree, cache.view()):
        done = 0
        for blobs in _portions(objects, missing, stop):
            if not cache.add(blobs, needed=needed):
                return added + done
            done += len(blobs)
            if progress is not None:
                progress(done, len(missing))
        added += done
        if done < len(missing):
            break
    return added


def _portions(objects: Objects, missing: Sequence[bytes], stop: Callable[[], bool]) -> Iterator[list[Stored]]:
    """Blobs as they go into one segment; what was read when it is stopped is still worth keeping."""
    portion: list[Stored] = []
    size = 0
    with closing(blob_reader.stored(objects, missing)) as blobs:
        for count, blob in enumerate(blobs):
            portion.append(blob)
            size += len(blob.text or b"")
            if len(portion) >= segments.MOST_BLOBS or size >= segments.MOST_BYTES:
                yield portion
                portion, size = [], 0
            if count % _LOOK_UP == 0 and stop():
                break
        if portion:
            yield portion
