"""Failures of every kind in a project's run: it halts, says why in words for a person, and resumes when mended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.engine.run import Run
from forge.events import Event, ProjectMoved
from forge.pipeline.actions import Action
from forge.plugins.roles import Notice
from forge.projects.errors import ProjectUnwritable
from tests.support.scripted_projects import Office, Script, new, office, pressed, script, seen

__all__ = ["office", "script"]
pytestmark = pytest.mark.req("P-11", "P-14", "X-04")

FAULTS = {
    "plugin exception": RuntimeError("the plugin is broken"),
    "missing key": KeyError("title"),
    "broken template": ValueError("unexpected '}'"),
    "no such file": FileNotFoundError(2, "No such file or directory"),
    "disk error": OSError(5, "Input/output error"),
    "not writable for a moment": ProjectUnwritable("The disk is full.", hint="Make room."),
}
PHASES = {
    "distilling": (),
    "spec_building": (Action.DISTILL,),
    "building": (Action.DISTILL, Action.CONFIRM),
}
LAST = {"distilling": Action.DISTILL, "spec_building": Action.CONFIRM, "building": Action.CONFIRM}
AFTER = {"distilling": "human_review", "spec_building": "spec_building", "building": "done"}


class Fault:
    """Raises in place of the nth step of a run, once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at: int | None = None
        self.error: Exception = RuntimeError()
        self.inside = True
        self.steps: list[str] = []
        real = Run.step

        async def step(run: Run, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
            self.steps.append(name)
            if self.at is None or len(self.steps) != self.at:
                return await real(run, name, function)
            self.at = None
            if not self.inside:
                raise self.error

            async def fail() -> Any:
                raise self.error

            return await real(run, name, fail)

        monkeypatch.setattr(Run, "step", step)


async def failed(shop: Workshop, fault: Fault, phase: str, at: int) -> tuple[Any, Any, list[Event], list[Notice]]:
    project = await new(shop, f"{phase} {at} {fault.inside} {type(fault.error).__name__}")
    for action in PHASES[phase]:
        await pressed(shop, project, action)
    notices: list[Notice] = []
    tell = shop.sender.tell
    object.__setattr__(shop.sender, "tell", lambda key, notice: (notices.append(notice), tell(key, notice))[1])
    fault.steps.clear()
    fault.at = at
    heard: list[Event] = []
    shown = await seen(shop, project, await perform(shop, project, LAST[phase]), heard)
    object.__setattr__(shop.sender, "tell", tell)
    return project, shown, heard, notices


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", FAULTS)
def test_a_failure_halts_with_a_reason_and_a_notice(
    name: str, phase: str, office: Office, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = Fault(monkeypatch)
    fault.error = FAULTS[name]

    async def use(shop: Workshop) -> None:
        for fault.inside, at in ((True, 1), (False, 2), (True, 3)):
            project, shown, heard, notices = await failed(shop, fault, phase, at)
            if fault.at is not None:  # the run has fewer steps than that
                fault.at = None
                continue
            place = (phase, at, fault.steps[:at])
            assert shown.phase == "halted", place
            assert not shown.busy, place
            assert shown.question, place
            assert "Traceback" not in shown.question, place
            assert any(isinstance(event, ProjectMoved) and event.phase == "halted" for event in heard), place
            assert any(notice.event_type == "error" for notice in notices), place
            assert "resume" in shown.actions, place
            again = await pressed(shop, project, Action.RESUME)
            assert again.phase == AFTER[phase], (place, again.problem, again.question)

    office.do(use)


@pytest.mark.parametrize("prompt", ["brain-dump-intake"])
def test_an_empty_prompt_file_halts_and_is_named(prompt: str, office: Office, script: Script) -> None:
    directory = office.settings.prompts_directory
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{prompt}.md").write_text("")

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        shown = await pressed(shop, project, Action.DISTILL)
        assert shown.phase == "halted"
        assert prompt in shown.question
        (directory / f"{prompt}.md").unlink()
        assert (await pressed(shop, project, Action.RESUME)).phase == "human_review"

    office.do(use)
