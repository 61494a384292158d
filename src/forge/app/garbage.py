"""Short pauses: while Python looks for garbage in cycles, every thread of the server waits for it."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST = 0.02
_YOUNG = 20_000
_TIMES = 3
"""At the start, and when the libraries of the first turns are loaded. More often would keep what only passed by."""


@contextmanager
def short_pauses() -> Iterator[None]:
    """What outlives one of the first searches that took long, above all libraries, is not searched again.

    It is still freed as soon as nothing refers to it; only cycles among what was alive at that moment are kept.
    """
    began, frozen = 0.0, 0

    def watch(phase: str, info: dict[str, int]) -> None:
        nonlocal began, frozen
        if phase == "start":
            began = time.thread_time()
        elif info["generation"] == 2 and frozen < _TIMES and time.thread_time() - began > _LONGEST:
            frozen += 1
            gc.freeze()

    # Off while everything was loaded.
    gc.enable()
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, *before[1:])
    gc.callbacks.append(watch)
    try:
        yield
    finally:
        gc.callbacks.remove(watch)
        gc.set_threshold(*before)
