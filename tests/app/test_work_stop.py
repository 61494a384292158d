"""Trouble with a model is told on the project, also from turns of its build, and a person can stop the work."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from forge.agents.listener import Retry
from forge.app.process.workshop import Workshop
from forge.app.projects import agents
from forge.app.projects.actions import perform
from forge.app.projects.agents import ProjectAgents
from forge.app.projects.catalog import choose_agent
from forge.app.projects.view import STOPPED, view
from forge.app.projects.work_stop import NothingToStop, stop_work
from forge.events import Event, ModelAnswered, ModelRetryScheduled, ProjectProgressed
from forge.pipeline.actions import Action
from forge.pipeline.answerer import Order
from forge.plugins.roles import Worked
from forge.sessions.messages import Usage
from tests.support.project_runs import CODE_ANSWER, CODE_INTENT
from tests.support.scripted_projects import Office, Script, new, office, pressed, script, seen

__all__ = ["office", "script"]

OVERLOADED = Retry("overloaded", 3, 6, 8.0, Usage())
WORDS = "overloaded, retrying in 8 s (3 of 6)"


async def until(there: Any) -> None:
    async with asyncio.timeout(20):
        while not there():
            await asyncio.sleep(0.01)


@pytest.mark.req("B-12", "P-11")
def test_work_that_is_in_trouble_says_so_and_can_be_stopped_and_taken_up_again(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop)
        with pytest.raises(NothingToStop):
            await stop_work(shop, project)
        script.gates["brain-dump-intake"] = asyncio.Event()
        await perform(shop, project, Action.DISTILL)
        await until(lambda: script.of("brain-dump-intake"))
        script.of("brain-dump-intake")[0].retrying(OVERLOADED)
        assert view(shop, project).trouble.endswith(WORDS)
        await stop_work(shop, project)
        now = view(shop, project)
        assert (now.phase, now.label, now.busy, now.trouble) == ("halted", STOPPED, False, "")
        assert [offer.action for offer in now.offers] == ["resume", "provide_input", "terminate"]
        assert "You stopped it." in project.chat()[-1].content
        script.gates.clear()
        choose_agent(shop, project, "builtin")
        assert (await pressed(shop, project, Action.RESUME)).phase == "human_review"

    office.do(use)


ANSWERED = ModelAnswered("t1", "", (), 1, 1, 0, None)
RETRY = ModelRetryScheduled("anthropic:x", "overloaded", 3, 6, 8.0, WORDS, turn="t1")


@pytest.mark.req("B-12", "P-07")
def test_trouble_in_a_turn_of_a_build_is_told_on_the_project(
    office: Office, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(_: ProjectAgents, steps: Any, place: str, order: Order) -> Worked:
        del steps, place
        order.trouble(RETRY)
        order.trouble(None)
        return Worked(success=False, text="", commit=None, files=(), reason="no")

    monkeypatch.setattr(ProjectAgents, "work", work)

    async def use(shop: Workshop) -> None:
        script.answers["brain-dump-intake"] = lambda _: CODE_INTENT
        script.answers["spec-building"] = lambda _: json.dumps(CODE_ANSWER)
        project = await new(shop)
        await pressed(shop, project, Action.DISTILL)
        await pressed(shop, project, Action.CONFIRM)
        heard: list[Event] = []
        await seen(shop, project, await perform(shop, project, Action.CONFIRM), heard)
        told = [event for event in heard if isinstance(event, ModelRetryScheduled)]
        assert {(event.project, event.turn, event.text) for event in told} == {(project.id, "", WORDS)}
        assert any(isinstance(event, ProjectProgressed) and "answers again" in event.text for event in heard)
        lines = [(line["level"], line["detail"]) for line in project.log.lines()]
        assert ("warn", f"anthropic:x: {WORDS}") in lines

    office.do(use)


@pytest.mark.req("B-12")
def test_what_happens_on_a_branch_is_heard_by_whoever_waits_for_its_turn(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        heard: list[ModelRetryScheduled | None] = []
        async with agents._hearing_trouble(shop, "branch:a", heard.append):
            for event in (RETRY, RETRY, ANSWERED, ANSWERED):
                await asyncio.sleep(0.05)
                shop.events.publish("branch:a", event)
            await until(lambda: len(heard) == 3)
        assert heard == [RETRY, RETRY, None]

    office.do(use)
