"""Ids of presses: a project remembers the last ones, and what each was for."""

from __future__ import annotations

import pytest

from forge.pipeline import action_ids
from forge.pipeline.errors import ActionIdReused
from forge.projects.info import ProjectInfo

pytestmark = pytest.mark.req("P-12")


def test_the_last_fifty_are_remembered_with_what_they_were_for() -> None:
    info = ProjectInfo("20261116-4f2a", "t")
    for number in range(action_ids.KEPT + 1):
        info = action_ids.remembered(info, f"press-{number}", action_ids.digest("say", f"words {number}"))
    assert len(info.presses) == action_ids.KEPT
    assert not action_ids.is_repeated(info, "press-0", action_ids.digest("say", "words 0"))
    assert action_ids.is_repeated(info, "press-1", action_ids.digest("say", "words 1"))
    for asked, text in (("say", "other words"), ("distill", "words 1")):
        with pytest.raises(ActionIdReused) as caught:
            action_ids.is_repeated(info, "press-1", action_ids.digest(asked, text))
        assert caught.value.hint


def test_a_press_without_an_id_is_never_a_repetition() -> None:
    info = ProjectInfo("20261116-4f2a", "t")
    assert action_ids.remembered(info, None, action_ids.digest("say", "words")) == info
    assert not action_ids.is_repeated(info, None, action_ids.digest("say", "words"))
