"""Ids of presses: a project remembers the last ones, and what each was for."""

from __future__ import annotations

from typing import Any

import pytest

from forge.pipeline import presses
from forge.pipeline.errors import PressReused

pytestmark = pytest.mark.req("P-12")


def test_the_last_fifty_are_remembered_with_what_they_were_for() -> None:
    info: dict[str, Any] = {}
    for number in range(presses.KEPT + 1):
        presses.remember(info, f"press-{number}", presses.digest("say", f"words {number}"))
    assert len(info["presses"]) == presses.KEPT
    assert not presses.is_repeated(info, "press-0", presses.digest("say", "words 0"))
    assert presses.is_repeated(info, "press-1", presses.digest("say", "words 1"))
    for asked, text in (("say", "other words"), ("distill", "words 1")):
        with pytest.raises(PressReused) as caught:
            presses.is_repeated(info, "press-1", presses.digest(asked, text))
        assert caught.value.hint


def test_a_press_without_an_id_is_never_a_repetition() -> None:
    info: dict[str, Any] = {}
    presses.remember(info, None, presses.digest("say", "words"))
    assert info == {}
    assert not presses.is_repeated(info, None, presses.digest("say", "words"))
