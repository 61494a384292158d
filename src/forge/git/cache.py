"""Keeps the values used last, within a budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")
K = TypeVar("K")


class Cache(Generic[K, V]):
    """The values used last, within a budget of weight."""

    def __init__(self, budget: int, weigh: Callable[[V], int]) -> None:
        self._budget = budget
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is not None:
            try:
                self._values.move_to_end(key)
            except KeyError:  # another thread dropped it just now; the value is still right
                return value
        return value

    def put(self, key: K, value: V) -> None:
        weight = self._weigh(value)
        if weight > self._budget // 4:
            return
        with self._lock:
            if key in self._values:
                return
            self._values[key] = value
            self._weight += weight
            while self._weight > self._budget:
                _, dropped = self._values.popitem(last=False)
                self._weight -= self._weigh(dropped)
