"""Short pauses: what outlives the first long searches is left alone, a few times and no more."""

from __future__ import annotations

import gc

import pytest

from forge.api import garbage


def test_only_the_first_long_searches_leave_what_is_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[None] = []
    monkeypatch.setattr(garbage, "_LONGEST", -1.0)
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(None))
    before = gc.get_threshold(), list(gc.callbacks)
    with garbage.short_pauses():
        gc.collect(0)
        assert frozen == []
        for _ in range(6):
            gc.collect()
    assert len(frozen) == 3
    assert (gc.get_threshold(), list(gc.callbacks)) == before


def test_a_short_search_leaves_nothing_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_LONGEST", 3600.0)
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("it was short"))
    with garbage.short_pauses():
        gc.collect()


def test_a_process_that_begins_with_the_search_switched_off_has_it_on_from_here() -> None:
    gc.disable()
    try:
        with garbage.short_pauses():
            assert gc.isenabled()
    finally:
        gc.enable()
