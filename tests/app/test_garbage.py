"""Garbage in cycles goes soon, and what outlives the first long searches is left alone, a few times and no more."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable

import pytest

from forge.app.process import garbage_collection
from forge.git.objects.cache import Cache


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "_EVERY", 0.01)
    monkeypatch.setattr(garbage_collection, "_SHARE", 0)


def until(condition: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 20
    while not condition() and time.monotonic() < ends:
        time.sleep(0.01)
    return condition()


def test_garbage_that_has_become_old_goes_soon() -> None:
    gone = weakref.ref(cycle := Cycle())
    gc.collect()  # now it is among the old ones, which Python leaves alone for long
    with garbage_collection.short_pauses():
        assert gone() is cycle
        del cycle
        assert until(lambda: gone() is None)


def test_what_was_read_and_is_not_asked_for_any_more_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "_UNUSED", 0.02)
    cache: Cache[str, bytes] = Cache(1 << 20, len)
    cache.put("read once", bytes(10))
    with garbage_collection.short_pauses():
        assert until(lambda: cache.weight == 0)


def test_only_the_first_long_searches_leave_what_is_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[None] = []
    searched: list[None] = []
    collect = gc.collect
    monkeypatch.setattr(garbage_collection, "_LONGEST", -1.0)
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(None))
    monkeypatch.setattr(gc, "collect", lambda: searched.append(None) or collect(0))
    before = gc.get_threshold(), threading.active_count()
    with garbage_collection.short_pauses():
        assert until(lambda: len(searched) >= 6)
    assert len(frozen) == 3
    assert (gc.get_threshold(), threading.active_count()) == before


def test_a_short_search_leaves_nothing_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[None] = []
    searched: list[None] = []
    monkeypatch.setattr(garbage_collection, "_LONGEST", 3600.0)
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(None))
    monkeypatch.setattr(gc, "collect", lambda: searched.append(None))
    with garbage_collection.short_pauses():
        assert until(lambda: len(searched) >= 2)
    assert frozen == []


def test_a_long_search_is_followed_by_a_long_time_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[None] = []

    def computing() -> None:
        searched.append(None)
        ends = time.thread_time() + 0.02
        while time.thread_time() < ends:
            pass

    monkeypatch.setattr(garbage_collection, "_SHARE", 10_000)
    monkeypatch.setattr(garbage_collection, "_LONGEST", 3600.0)
    monkeypatch.setattr(gc, "collect", computing)
    with garbage_collection.short_pauses():
        assert until(lambda: bool(searched))
        time.sleep(0.2)
    assert len(searched) == 1


def test_a_process_that_begins_with_the_search_switched_off_has_it_on_from_here() -> None:
    gc.disable()
    try:
        with garbage_collection.short_pauses():
            assert gc.isenabled()
    finally:
        gc.enable()
