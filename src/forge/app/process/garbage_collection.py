"""What nobody needs goes soon: garbage in cycles, and what was read and is not asked for any more.

Python's search for cycles is made often and briefly, since every thread of the server waits for it.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from forge.app.process.malloc import give_back
from forge.git.objects.cache import KEPT

_EVERY = 10.0
"""Seconds. Left to itself, Python looks through old objects only when a quarter has come to them: after minutes, and
until then the garbage of every turn has taken memory."""
_SHARE = 200
"""A search that takes long is made less often: this many times as long as it took is without one."""
_UNUSED = 30.0
"""Seconds. What was read of repositories and not asked for in such a time goes at the end of the next."""
_LONGEST = 0.02
_YOUNG = 20_000
_TIMES = 3
"""At the start, and when the libraries of the first turns are loaded. More often would keep what only passed by."""


@contextmanager
def short_pauses() -> Iterator[None]:
    """What outlives one of the first searches that took long, above all libraries, is not searched again.

    It is still freed as soon as nothing refers to it; only cycles among what was alive at that moment are kept.
    """
    # Off while everything was loaded.
    gc.enable()
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, *before[1:])
    ended = threading.Event()
    thread = threading.Thread(target=_search, args=(ended,), name="forge-garbage", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        gc.set_threshold(*before)


def _search(ended: threading.Event) -> None:
    frozen, wait, aged = 0, _EVERY, time.monotonic()
    while not ended.wait(wait):
        if time.monotonic() - aged >= _UNUSED:
            aged = time.monotonic()
            KEPT.age()
        began = time.thread_time()
        gc.collect()
        took = time.thread_time() - began
        wait = max(_EVERY, took * _SHARE)
        if took > _LONGEST and frozen < _TIMES:
            frozen += 1
            gc.freeze()
        give_back()
