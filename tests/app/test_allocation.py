"""Memory that one thread has freed is there for the others."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from forge.app.process.malloc import share_heaps

pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="not the GNU C library")

_HEAPS_OF_MANY_THREADS = """
import ctypes, os, sys, tempfile, threading
from forge.app.process.malloc import share_heaps
if sys.argv[1] == "shared":
    assert share_heaps({})
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
together = threading.Barrier(12)
def use():
    together.wait()
    places = [libc.malloc(2000) for _ in range(200)]
    together.wait()
    for place in places:
        libc.free(place)
threads = [threading.Thread(target=use) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.fdopen.restype = ctypes.c_void_p
with tempfile.TemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fdopen(os.dup(file.fileno()), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    file.seek(0)
    print(file.read().count(b"<heap "))
"""

_FREED_BETWEEN = """
import ctypes
from pathlib import Path
from forge.app.process.malloc import give_back, share_heaps
assert share_heaps({})
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
places = [libc.malloc(32_000) for _ in range(1_000)]
for place in places:
    ctypes.memset(place, 1, 32_000)
for place in places[:-1]:
    libc.free(place)
full = resident()
give_back()
print(full - resident())
"""


def test_what_is_free_goes_back_though_something_behind_it_is_still_used() -> None:
    words = [sys.executable, "-c", _FREED_BETWEEN]
    assert int(subprocess.run(words, capture_output=True, check=True, text=True).stdout) > 24_000_000


def heaps(how: str) -> int:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    words = [sys.executable, "-c", _HEAPS_OF_MANY_THREADS, how]
    return int(subprocess.run(words, env=environ, capture_output=True, check=True, text=True).stdout)


def test_threads_share_two_heaps() -> None:
    assert heaps("shared") <= 2 < heaps("as they are")


def test_what_somebody_has_chosen_stays() -> None:
    assert not share_heaps({"MALLOC_ARENA_MAX": "4"})
