"""What a person is offered where a project halted: each offer with a line that explains it."""

from __future__ import annotations

import pytest

from forge.pipeline.actions import ActionState
from forge.pipeline.offers import EDIT, offers
from forge.projects.status import HaltReason, Phase

pytestmark = pytest.mark.req("P-12")


def halted_in(phase: Phase) -> dict[str, str]:
    state = ActionState(Phase.HALTED, HaltReason.AGENT_FAILURE, phase)
    found = offers(state)
    assert all(each.title and each.about for each in found)
    return {each.action: each.title for each in found}


def test_a_project_halted_while_polishing_offers_all_five() -> None:
    assert list(halted_in(Phase.POLISHING)) == ["resume", EDIT, "provide_input", "override", "terminate"]


def test_while_distilling_there_are_only_the_persons_own_words_to_edit() -> None:
    assert halted_in(Phase.DISTILLING) == {
        "resume": "Retry",
        "provide_input": "Edit your words",
        "terminate": "Terminate",
    }
