"""How long a program may make no progress before it is ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOOK_AGAIN = 0.1


class Patience:
    """`seconds` without `touch` end what is watched; None waits for ever. `halt` ends it at once."""

    def __init__(self, seconds: float | None, halt: threading.Event) -> None:
        self.seconds = seconds or 0.0
        self.is_over = False
        """Whether the last watch ended because nothing came."""
        self._halt = halt
        self._last = 0.0

    def touch(self) -> None:
        self._last = time.monotonic()

    @contextmanager
    def watching(self) -> Iterator[threading.Event]:
        """An event that is set when whatever runs in the block has to end."""
        self.is_over = False
        if not self.seconds:
            yield self._halt
            return
        self.touch()
        stop, ended = threading.Event(), threading.Event()
        thread = threading.Thread(target=self._watch, args=(stop, ended), name="patience", daemon=True)
        thread.start()
        try:
            yield stop
        finally:
            ended.set()
            thread.join()

    def _watch(self, stop: threading.Event, ended: threading.Event) -> None:
        while not ended.wait(_LOOK_AGAIN):
            self.is_over = not self._halt.is_set() and time.monotonic() - self._last > self.seconds
            if self.is_over or self._halt.is_set():
                stop.set()
                return
