"""A thread that records what others publish, in order and many at a time, so that no publisher waits for the disk."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import compress
from typing import TYPE_CHECKING

from forge.errors import ForgeError
from forge.store.errors import StoreUnavailable

if TYPE_CHECKING:
    from forge.store.events import Publication

_BATCH = 200
_TOGETHER = 0.12
"""Live pieces wait so long for others. Nobody sees it, and many clients are told far fewer of them."""
_PATIENCE = 20.0
_PAUSE = 0.2


class _Mark(threading.Event):
    """Put behind what was published; set when all of that is on record."""


class Publisher:
    def __init__(self, publish: Callable[[Sequence[Publication]], Sequence[int]]) -> None:
        """`publish` deals with some from the front and gives one id for each of them."""
        self._publish = publish
        self._items: deque[Publication | _Mark] = deque()
        self._filled = threading.Event()
        self._urgent = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._trouble: ForgeError | None = None
        self._closed = False

    def put(self, publication: Publication) -> None:
        self._add(publication, urgent=not publication.event.live)
        self._start()

    def _add(self, item: Publication | _Mark, *, urgent: bool) -> None:
        self._items.append(item)
        # Only who sleeps is woken: most pieces come while others wait already.
        if not self._filled.is_set():
            self._filled.set()
        if urgent:
            self._urgent.set()

    async def flush(self) -> None:
        if self._thread is None:
            return
        mark = _Mark()
        self._add(mark, urgent=True)
        if not await asyncio.to_thread(mark.wait, _PATIENCE):
            raise self._trouble or StoreUnavailable("events could not be recorded in time", hint="is the disk busy?")

    def close(self) -> None:
        """What was published is recorded first, if the database lets it."""
        self._closed = True
        if self._thread is not None:
            self._filled.set()
            self._urgent.set()
            self._thread.join(timeout=_PATIENCE)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="forge-publisher", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while not self._closed or self._items:
            self._filled.wait()
            due = time.monotonic() + _TOGETHER
            while (left := due - time.monotonic()) > 0 and self._urgent.wait(left):
                self._urgent.clear()
                self._deal_with(self._pressing())
            self._filled.clear()
            while self._items:
                self._deal_with([self._items.popleft() for _ in range(len(self._items))])

    def _pressing(self) -> list[Publication | _Mark]:
        """What is to be recorded, with the pieces of the same topics; those of others go on waiting for more."""
        some = [self._items.popleft() for _ in range(len(self._items))]
        topics = {each.topic for each in some if not isinstance(each, _Mark) and not each.event.live}
        presses = [isinstance(each, _Mark) or each.topic in topics for each in some]
        self._items.extendleft(each for each, does in zip(reversed(some), reversed(presses), strict=True) if not does)
        return list(compress(some, presses))

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
