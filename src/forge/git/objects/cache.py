"""Keeps the values used last, within a budget of their own and one that all caches of the process share.

Who lives long also lets the memory age: a value that nobody has used since the time before last is not kept any more. A
branch that is written to leaves folders and commits behind with every save; without ageing they fill the whole budget.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

V = TypeVar("V")
K = TypeVar("K")

_EACH = 250
"""Bytes of a key and its place, whatever the value."""
_AHEAD = 16
"""The caches are weighed together when this part of the memory was added since."""
_LARGEST = 4
"""A value that would take this part of a cache is not kept."""


class Memory:
    """Bytes that caches may keep together. When it is too much, the largest lets go of what it used longest ago."""

    def __init__(self, most: int) -> None:
        self.lock = threading.Lock()
        self._most = most
        self._added = 0
        # A cache goes with its repository, and what it kept with it: nothing has to be returned.
        self._caches: WeakSet[Cache[Any, Any]] = WeakSet()

    def joined(self, cache: Cache[Any, Any]) -> None:
        with self.lock:
            self._caches.add(cache)

    def age(self) -> None:
        """What was not used since the last call is dropped at the next one."""
        with self.lock:
            for cache in list(self._caches):
                cache.age()

    def added(self, weight: int) -> None:
        """Call it with the lock held."""
        self._added += weight
        if self._added < self._most // _AHEAD:
            return
        self._added = 0
        caches = list(self._caches)
        over = sum(cache.weight for cache in caches) - (self._most - self._most // _AHEAD)
        while over > 0:
            largest = max(caches, key=lambda cache: cache.weight)
            over -= largest.let_go(min(over, self._most // _AHEAD))


KEPT = Memory(64 << 20)
"""Of this process: for however many repositories, since they may all be used by one server."""


class Cache(Generic[K, V]):
    """The values used last. `weigh` tells the bytes of a value."""

    def __init__(self, most: int, weigh: Callable[[V], int], *, memory: Memory = KEPT) -> None:
        self.weight = 0
        self._most = most
        self._weigh = weigh
        self._values: OrderedDict[K, V] = OrderedDict()
        self._unused: OrderedDict[K, V] = OrderedDict()
        """Nobody has asked for these since the memory aged."""
        self._memory = memory
        memory.joined(self)

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is None:
            return self._used_again(key) if key in self._unused else None
        try:
            self._values.move_to_end(key)
        except KeyError:  # another thread dropped it just now; the value is still right
            return value
        return value

    def put(self, key: K, value: V) -> None:
        weight = self._weigh(value) + _EACH
        if weight > self._most // _LARGEST:
            return
        with self._memory.lock:
            if key in self._values or key in self._unused:
                return
            self._values[key] = value
            self.weight += weight
            if self.weight > self._most:
                self.let_go(self.weight - self._most)
            self._memory.added(weight)

    def let_go(self, weight: int) -> int:
        """Drop at least so much, or all there is, and tell how much. Call it with the lock of the memory held."""
        gone = 0
        while gone < weight and (kept := self._unused or self._values):
            _, dropped = kept.popitem(last=False)
            gone += self._weigh(dropped) + _EACH
        self.weight -= gone
        return gone

    def age(self) -> None:
        """Call it with the lock of the memory held."""
        self.weight -= sum(map(self._weigh, self._unused.values())) + _EACH * len(self._unused)
        self._unused, self._values = self._values, OrderedDict()

    def _used_again(self, key: K) -> V | None:
        with self._memory.lock:
            value = self._unused.pop(key, None)
            if value is not None:
                self._values[key] = value
        return value if value is not None else self._values.get(key)
