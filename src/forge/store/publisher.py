"""A thread that records what others publish, in order and many at a time, so that no publisher waits for the disk.

What is recorded goes at once. Live pieces wait a moment for more of their topic; each topic has its own moment, so that
many topics are not told all at once, and the more there are, the longer it is, so that all together are told as often.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forge.errors import ForgeError
from forge.store.errors import StoreUnavailable

if TYPE_CHECKING:
    from forge.store.events import Publication

_BATCH = 200
_SHORTEST, _EACH, _LONGEST = 0.05, 0.0125, 0.25
"""Seconds that a topic's pieces wait: so many for each topic that has some, within these bounds."""
_APART = 0.003
"""Seconds between two topics: who asks something meanwhile does not wait for the clients of both."""
_PATIENCE = 20.0
_PAUSE = 0.2


class _Mark(threading.Event):
    """Put behind what was published; set when all that was to be recorded before it is."""


class Publisher:
    def __init__(self, publish: Callable[[Sequence[Publication]], Sequence[int]]) -> None:
        """`publish` deals with some from the front and gives one id for each of them."""
        self._publish = publish
        self._changed = threading.Condition()
        self._urgent: list[Publication | _Mark] = []
        self._pieces: dict[str, list[Publication]] = {}
        self._due: dict[str, float] = {}
        self._thread: threading.Thread | None = None
        self._trouble: ForgeError | None = None
        self._closed = False

    def put(self, publication: Publication) -> None:
        with self._changed:
            if publication.event.live:
                self._wait_for_more(publication)
            else:
                # The pieces before it are told before it.
                self._urgent += (*self._taken(publication.topic), publication)
                self._changed.notify()
            if self._thread is None and not self._closed:
                thread = threading.Thread(target=self._work, name="forge-publisher", daemon=True)
                # Where there is no room for another thread, the next one who publishes tries again.
                thread.start()
                self._thread = thread

    def _wait_for_more(self, piece: Publication) -> None:
        if piece.topic in self._pieces:
            self._pieces[piece.topic].append(piece)
            return
        self._pieces[piece.topic] = [piece]
        wait = min(max(_SHORTEST, _EACH * len(self._pieces)), _LONGEST)
        self._due[piece.topic] = time.monotonic() + wait
        if len(self._pieces) == 1:  # else the thread wakes in time
            self._changed.notify()

    def _taken(self, topic: str) -> list[Publication]:
        self._due.pop(topic, None)
        return self._pieces.pop(topic, [])

    async def flush(self) -> None:
        if self._thread is None:
            return
        mark = _Mark()
        with self._changed:
            self._urgent.append(mark)
            self._changed.notify()
        if not await asyncio.to_thread(mark.wait, _PATIENCE):
            raise self._trouble or StoreUnavailable("events could not be recorded in time", hint="is the disk busy?")

    def close(self) -> None:
        """What was published is recorded first, if the database lets it."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=_PATIENCE)

    def _work(self) -> None:
        while True:
            with self._changed:
                some = self._next()
                while not some:
                    if self._closed:
                        return
                    self._changed.wait(self._until_due())
                    some = self._next()
            self._deal_with(some)
            if not self._closed and not isinstance(some[-1], _Mark) and some[-1].event.live:
                time.sleep(_APART)

    def _next(self) -> list[Publication | _Mark]:
        """All that is to be recorded, and the pieces of one topic whose time has come; in the end, of any."""
        some, self._urgent = self._urgent, []
        if self._due:
            topic = min(self._due, key=self._due.__getitem__)
            if self._closed or self._due[topic] <= time.monotonic():
                some += self._taken(topic)
        return some

    def _until_due(self) -> float | None:
        return max(0.0, min(self._due.values()) - time.monotonic()) if self._due else None

    def _deal_with(self, some: list[Publication | _Mark]) -> None:
        batch: list[Publication] = []
        for item in some:
            if not isinstance(item, _Mark):
                batch.append(item)
            if isinstance(item, _Mark) or len(batch) == _BATCH:
                self._try(batch)
                batch = []
            if isinstance(item, _Mark):
                item.set()
        self._try(batch)

    def _try(self, batch: list[Publication]) -> None:
        """Until it works: what was published is not forgotten because the database is away for a while."""
        while batch:
            try:
                del batch[: len(self._publish(batch))]
                self._trouble = None
            except ForgeError as error:
                self._trouble = error
                if self._closed:
                    return
                time.sleep(_PAUSE)
