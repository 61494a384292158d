"""A press in the moment between two phases: the run has written the next phase and has not ended yet."""

from __future__ import annotations

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.app.projects.runs import follow
from forge.events import ProjectMoved
from forge.pipeline.actions import Action
from tests.support.scripted_projects import Office, Script, new, office, script, seen

__all__ = ["office", "script"]


@pytest.mark.req("P-11", "P-19")
def test_a_press_at_the_very_moment_of_a_new_phase_is_taken(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        for number in range(12):
            project = await new(shop, f"Party {number}")
            distilled = await perform(shop, project, Action.DISTILL)
            confirmed = None
            async for event in follow(shop, project, distilled):
                if isinstance(event, ProjectMoved) and event.phase == "human_review":
                    confirmed = await perform(shop, project, Action.CONFIRM)
            assert confirmed is not None
            assert (await seen(shop, project, confirmed)).phase == "spec_building"

    office.do(use)
