"""A thread that records what others publish, in order and many at a time, so that no publisher waits for the disk."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forge.errors import ForgeError
from forge.store.errors import StoreUnavailable

if TYPE_CHECKING:
    from forge.store.events import Publication

_BATCH = 200
_TOGETHER = 0.08
"""Live pieces wait so long for others. Nobody sees it, and many clients are told far fewer of them."""
_PATIENCE = 20.0
_PAUSE = 0.2


class _Mark(threading.Event):
    """Put behind what was published; set when all of that has been dealt with."""


class Publisher:
    def __init__(self, publish: Callable[[Sequence[Publication]], Sequence[int]]) -> None:
        """`publish` deals with some from the front and gives one id for each of them."""
        self._publish = publish
        self._items: queue.SimpleQueue[Publication | _Mark | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._trouble: ForgeError | None = None
        self._closed = False

    def put(self, publication: Publication) -> None:
        self._items.put(publication)
        self._start()

    async def flush(self) -> None:
        if self._thread is None:
            return
        mark = _Mark()
        self._items.put(mark)
        if not await asyncio.to_thread(mark.wait, _PATIENCE):
            raise self._trouble or StoreUnavailable("events could not be recorded in time", hint="is the disk busy?")

    def close(self) -> None:
        """What was published is recorded first, if the database lets it."""
        self._closed = True
        if self._thread is not None:
            self._items.put(None)
            self._thread.join(timeout=_PATIENCE)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="forge-publisher", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            batch, end = self._next()
            if batch:
                self._try(batch)
            if isinstance(end, _Mark):
                end.set()
            elif end is None:
                return

    def _next(self) -> tuple[list[Publication], Publication | _Mark | None]:
        """What is there now, up to the next mark or the end. At least one item, waiting for it if need be."""
        batch: list[Publication] = []
        item = self._items.get()
        until = time.monotonic() + _TOGETHER
        while True:
            if item is None or isinstance(item, _Mark):
                return batch, item
            batch.append(item)
            if len(batch) >= _BATCH:
                return batch, item
            # What is to be recorded goes at once, and takes what was live before it along.
            patience = max(0.0, until - time.monotonic()) if item.event.live else 0.0
            try:
                item = self._items.get(timeout=patience) if patience else self._items.get_nowait()
            except queue.Empty:
                return batch, item

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
