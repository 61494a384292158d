"""Memory that one thread has freed is there for the others, and for the system."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

_HEAPS = 2
_LARGE = 1 << 20
"""A block of that size is given to the system when it is freed. Sockets are read into 256 KB, too often for that."""
_AT_END = 16 << 20
"""So much may be free at the end of a heap until `give_back` is called."""
# From malloc.h of the GNU C library.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


def share_heaps(environ: Mapping[str, str]) -> bool:
    """Call it before there are threads; tells whether it did anything.

    The C library gives its threads heaps of their own, up to eight for each processor, and keeps in each what was freed
    there. A server with dozens of threads ends up with the sum of what each heap once needed. One interpreter lock for
    all threads means that they hardly ever wait for a heap, so two are as fast. Large blocks go back to the system.
    """
    if any(name.startswith("MALLOC_") for name in environ):
        return False  # somebody has chosen otherwise
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    chosen = {_ARENA_MAX: _HEAPS, _MMAP_THRESHOLD: _LARGE, _TRIM_THRESHOLD: _AT_END}
    done = [mallopt(name, value) for name, value in chosen.items()]
    return all(done)


def give_back() -> None:
    """What is free in the heaps goes back to the system; without this, only what lies at their end does."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
