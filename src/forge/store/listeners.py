"""Who listens to which topic in this process. Pushing never waits: a listener that lags loses live pieces only."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from forge.events import Event, from_text

ROOM = 1000
"""How many items wait for one listener. Recorded events beyond that are read from the database instead."""


_FEW = 100

ALL = sys.maxsize
"""Up to whatever is the newest event."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that is kept. Ids of a topic grow by one."""

    id: int
    time: float
    event: Event

    @classmethod
    def read(cls, id_: int, time: float, data: str) -> Recorded:
        return cls(id_, time, from_text(data))


@dataclass(frozen=True, slots=True)
class Live:
    """An event that is only seen by whoever listens now."""

    event: Event


class Listener:
    """One follower's inbox. Filled from any thread, emptied on the follower's loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.filled = asyncio.Event()
        self._lock = threading.Lock()
        self._items: deque[Recorded | Live | int] = deque()
        self._behind = False

    def push(self, item: Recorded | Live | int) -> bool:
        """Put it in; a number stands for events up to there that are in the database. True: it sleeps, wake it."""
        with self._lock:
            first = not self._items
            if len(self._items) < ROOM:
                self._items.append(item)
            elif not isinstance(item, Live):
                self._behind = True
        return first  # else it is about to look

    async def take(self) -> tuple[Recorded | Live | int, ...]:
        """What came in; a number stands where the database has events up to that id."""
        await self.filled.wait()
        self.filled.clear()
        with self._lock:
            taken = (*self._items, ALL) if self._behind else tuple(self._items)
            self._items.clear()
            self._behind = False
        return taken


class Listeners:
    """All followers of this process, by topic."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_topic: dict[str, set[Listener]] = {}
        self._pushed: dict[str, int] = {}
        self.settled = threading.Lock()
        """Held by whoever records and pushes, until both are done."""
        self.wanted = threading.Event()
        """Set while anybody listens."""

    def add(self, topic: str, listener: Listener) -> None:
        with self._lock:
            self._by_topic.setdefault(topic, set()).add(listener)
            self.wanted.set()

    def remove(self, topic: str, listener: Listener) -> None:
        with self._lock:
            remaining = self._by_topic.get(topic, set())
            remaining.discard(listener)
            if not remaining:
                self._by_topic.pop(topic, None)
                self._pushed.pop(topic, None)
            if not self._by_topic:
                self.wanted.clear()

    def topics(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._by_topic)

    def push(self, topic: str, item: Recorded | Live) -> None:
        with self._lock:
            listeners = tuple(self._by_topic.get(topic, ()))
            if listeners and isinstance(item, Recorded):
                self._pushed[topic] = max(item.id, self._pushed.get(topic, 0))
        _wake([listener for listener in listeners if listener.push(item)])

    def grown(self, topic: str, last: int, read: Callable[[str, int, int], Sequence[Recorded]]) -> None:
        """The database has events of the topic up to `last`; tell its listeners unless all of them were pushed.

        A few are read once for all of them, after an id and up to another; many, each listener reads by itself.
        """
        with self.settled:
            with self._lock:
                before = self._pushed.get(topic, 0)
                if last <= before or topic not in self._by_topic:
                    return
            missing = read(topic, before, last) if before and last - before <= _FEW else ()
            with self._lock:
                self._pushed[topic] = last
                listeners = tuple(self._by_topic.get(topic, ()))
        sleeping = {listener for item in missing or (last,) for listener in listeners if listener.push(item)}
        _wake(sleeping)


def _wake(sleeping: Iterable[Listener]) -> None:
    """All of a loop in one call, which costs more than what it is for."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Listener]] = {}
    for listener in sleeping:
        by_loop.setdefault(listener.loop, []).append(listener)
    for loop, some in by_loop.items():
        # A loop that has ended closes its followers itself; whoever publishes meanwhile must not notice.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_fill, some)


def _fill(listeners: Sequence[Listener]) -> None:
    for listener in listeners:
        listener.filled.set()
