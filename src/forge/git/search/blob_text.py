"""The text cache: contents of blobs in segments, shared by all branches and processes of a repository.

It may be deleted at any time, and what is damaged is thrown away: git has everything. Writers take a lock; readers
need none, because a segment never changes under its name.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from forge.git.search import segments
from forge.git.search.segments import Segment, SegmentDamaged, Stored, Window

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

MOST_DISK = 2 << 30
_SUFFIX = ".texts"
_FEW_BLOBS = 64
_MANY = 32
_MOST_JOINED = segments.MOST_BYTES // _MANY
_SLOTS = 16
"""Bits of a place that number the blob within its segment."""


class View:
    """Segments in use and where each blob lies in them. Grows in place; a new one is made when something goes."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.places: dict[bytes, int] = {}
        self._larger: dict[tuple[int, int], frozenset[bytes]] = {}

    def add(self, segment: Segment) -> None:
        first = len(self.segments) << _SLOTS
        self.segments.append(segment)
        self.places.update(zip(segment.ids, range(first, first + len(segment.ids)), strict=True))

    def place(self, oid: bytes) -> tuple[Segment, int]:
        """In which segment the blob is, and which of its blobs it is."""
        place = self.places[oid]
        return self.segments[place >> _SLOTS], place & (1 << _SLOTS) - 1

    def larger(self, size: int) -> frozenset[bytes]:
        """Blobs of more than `size` bytes."""
        key = size, len(self.segments)
        known = self._larger.get(key)
        if known is None:
            known = frozenset(
                oid
                for segment in self.segments[: key[1]]
                for oid, length in zip(segment.ids, segment.sizes, strict=True)
                if length > size
            )
            self._larger[key] = known
        return known


class TextCache:
    """The cache of one repository as this process sees it."""

    def __init__(self, folder: Path, *, budget: int | None = None) -> None:
        self.folder = folder
        self._budget = budget
        self._view = View()
        self._refused: set[str] = set()
        self._lock = threading.Lock()

    def view(self) -> View:
        """The cache as it is on the disk now."""
        with self._lock:
            names = self._names()
            kept = {segment.path.name: segment for segment in self._view.segments}
            if any(name not in names or not segment.unchanged() for name, segment in kept.items()):
                view = View()
                for name, segment in kept.items():
                    if name in names and segment.unchanged():
                        view.add(segment)
                self._view = view
                kept = {segment.path.name: segment for segment in view.segments}
            for name in names:
                if name not in kept:
                    self._open(self.folder / name)
            return self._view

    def is_empty(self) -> bool:
        return not self._names()

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        return sorted(name for name in names if name.endswith(_SUFFIX) and name not in self._refused)

    def _open(self, path: Path) -> None:
        try:
            self._view.add(Segment(path))
        except SegmentDamaged:
            self._refuse(path)

    def discard(self, damaged: SegmentDamaged) -> None:
        """Throw away a segment that turned out to be damaged."""
        with self._lock:
            self._refuse(damaged.path)

    def _refuse(self, path: Path) -> None:
        # Where it cannot be deleted it is at least not looked at again.
        self._refused.add(path.name)
        _remove(path)

    @contextmanager
    def writing(self, *, stop: Callable[[], bool] | None = None) -> Iterator[bool]:
        """Hold the lock of the cache inside the block. False when `stop` said so before it was free."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            yield self._locked(fd, stop)
        finally:
            os.close(fd)

    def _locked(self, fd: int, stop: Callable[[], bool] | None) -> bool:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if stop is not None and stop():
                    return False
                time.sleep(0.02)
            else:
                return True

    def add(self, blobs: Sequence[Stored], *, needed: Collection[bytes]) -> bool:
        """Keep these blobs, if need be in place of the oldest others; False when the budget has no room.

        The lock must be held. Segments of which at least half is `needed` stay; of others even needed blobs may go.
        """
        # Deleting the cache while it is being filled only makes it start anew.
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._made_room(self.view(), segments.size_of(blobs), needed):
            return False
        self._write(blobs)
        self._join(_FEW_BLOBS)
        return True

    def tidy(self) -> None:
        """Make few segments of many. The lock must be held."""
        self._join(segments.MOST_BLOBS // 8)

    def _write(self, blobs: Sequence[Stored]) -> None:
        name = f"{time.time_ns():020d}-{os.urandom(4).hex()}"
        beside = self.folder / f"{name}.new"
        try:
            segments.write(beside, blobs)
            os.replace(beside, self.folder / f"{name}{_SUFFIX}")
        except OSError:
            _remove(beside)
            raise

    def _made_room(self, view: View, size: int, needed: Collection[bytes]) -> bool:
        for name in os.listdir(self.folder):
            # Whoever wrote this no longer holds the lock, so it was never finished.
            if name.endswith(".new"):
                _remove(self.folder / name)
        used = sum(segment.bytes for segment in view.segments)
        budget = self._budget
        if budget is None:
            budget = min(MOST_DISK, (shutil.disk_usage(self.folder).free + used) // 4)
        if used + size <= budget:
            return True
        places = view.places
        shares = Counter(places[oid] >> _SLOTS for oid in set(needed) if oid in places)
        oldest = sorted(enumerate(view.segments), key=lambda each: (shares[each[0]] > 0, each[1].path.name))
        for number, segment in oldest:
            if used + size > budget and 2 * shares[number] < len(segment.ids):
                _remove(segment.path)
                used -= segment.bytes
        return used + size <= budget

    def _join(self, blobs_each: int) -> None:
        """Many segments of fewer than so many blobs, one of each commit, become one."""
        small = [each for each in self.view().segments if len(each.ids) < blobs_each and each.bytes < _MOST_JOINED]
        if len(small) <= _MANY:
            return
        blobs: dict[bytes, Stored] = {}
        window = Window()
        for segment in small:
            with suppress(SegmentDamaged):
                for slot, oid in enumerate(segment.ids):
                    blobs[oid] = Stored(oid, segment.sizes[slot], segment.text(slot, window))
        kept = list(blobs.values())
        for start in range(0, len(kept), segments.MOST_BLOBS):
            self._write(kept[start : start + segments.MOST_BLOBS])
        for segment in small:
            _remove(segment.path)


_caches: WeakKeyDictionary[Objects, TextCache] = WeakKeyDictionary()


def cache_of(objects: Objects) -> TextCache:
    """The text cache of the repository."""
    known = _caches.get(objects)
    if known is None:
        known = _caches.setdefault(objects, TextCache(objects.common_dir / "forge" / "search"))
    return known


def _remove(path: Path) -> None:
    # Somebody else may have been quicker, or the disk is read-only: then the file is only not used.
    with suppress(OSError):
        path.unlink()
