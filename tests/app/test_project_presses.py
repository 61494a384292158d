"""Buttons as they are really pressed: twice, at once, at the wrong moment, with others waiting for their turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform, restarted
from forge.app.projects.catalog import create
from forge.app.projects.messages import say
from forge.app.projects.named_run import ActionEffect
from forge.app.projects.view import ProjectView, view
from forge.errors import InvalidInput
from forge.git import Repository
from forge.pipeline import question_wait
from forge.pipeline.actions import Action
from forge.pipeline.answerer import AgentResponse, Task
from forge.pipeline.errors import ActionRefused, ConfirmationNeeded
from forge.projects.project import Project
from tests.conftest import MakeRepo
from tests.support.project_runs import CODE_ANSWER, CODE_INTENT
from tests.support.scripted_projects import (
    CLEAR,
    Office,
    Script,
    at_specification,
    by_stand_in,
    new,
    office,
    pressed,
    reviews,
    said,
    script,
    seen,
)

__all__ = ["office", "script"]


@pytest.fixture
def impatient(tmp_path: Path) -> Office:
    """One round of polishing, and a person is asked."""
    return Office.at(tmp_path / "office", "polish: {max_iterations: 1}\n")


def commits(project: Project) -> list[str]:
    return [commit.id for commit in Repository.open(project.directory).log("HEAD")]


async def eventually(true: Callable[[], Any], what: str) -> None:
    async with asyncio.timeout(20):
        while not await asyncio.to_thread(true):
            await asyncio.sleep(0.01)
    assert true(), what


async def halted(shop: Workshop, script: Script, name: str = "Party") -> Project:
    """Stopped by a guard after its first round; the next one would end well."""
    script.answers["plan-review"] = reviews(9, 0)
    project = await at_specification(shop, name)
    stopped = await pressed(shop, project, Action.CONFIRM)
    assert (stopped.phase, stopped.halt_reason, stopped.waiting) == ("halted", "guard_max_iterations", "halted")
    return project


@pytest.mark.req("P-12")
def test_a_press_that_comes_twice_changes_nothing_and_shows_what_is(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        script.gates["brain-dump-intake"] = asyncio.Event()
        project = await new(shop)
        first = await perform(shop, project, Action.DISTILL, action_id="a")
        before = commits(project)
        for id_ in ("a", "b", None):  # the same click again, another tab, a program
            second = await perform(shop, project, Action.DISTILL, action_id=id_)
            assert (second.changed, second.run) == (False, first.run)
        assert (commits(project), view(shop, project).phase, view(shop, project).busy) == (before, "distilling", True)
        with pytest.raises(ActionRefused, match="works on it"):
            await say(shop, project, "One more thing.")
        watching = asyncio.create_task(seen(shop, project, first, heard := []))
        await eventually(lambda: heard, "nothing was heard")
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):  # and nothing else: a person interrupted, the work goes on
            await watching
        script.gates["brain-dump-intake"].set()
        assert (await seen(shop, project, first)).phase == "human_review"
        assert len(script.asked) == 1

        both = await asyncio.gather(*(perform(shop, project, Action.CONFIRM) for _ in range(2)))
        assert sorted(one.changed for one in both) == [False, True]
        assert both[0].run == both[1].run
        done = await seen(shop, project, both[0])
        assert (done.phase, len(script.of("spec-building"))) == ("spec_building", 1)
        again = await perform(shop, project, Action.CONFIRM, action_id="late")
        assert again.changed, "the second Confirm is another button"
        assert (await seen(shop, project, again)).phase == "done"
        settled = commits(project)
        assert not (await perform(shop, project, Action.CONFIRM, action_id="late")).changed
        assert commits(project) == settled

    office.do(use)


@pytest.mark.req("P-12")
def test_a_halted_project_is_resumed_once_however_often_it_is_pressed(impatient: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await halted(shop, script)
        run = project.info().run
        assert run is not None
        both = await asyncio.gather(*(perform(shop, project, Action.RESUME) for _ in range(3)))
        assert {one.run for one in both} == {run.id}, "a second run was begun beside the first"
        done = await seen(shop, project, both[0])
        assert (done.phase, [entry["iteration"] for entry in done.rounds]) == ("done", [1, 2])
        assert project.info().run == run
        assert len(script.of("plan-review")) == 2

    impatient.do(use)


@pytest.mark.req("P-12")
@pytest.mark.parametrize("by", [perform, restarted])
def test_a_resume_in_the_moment_before_a_halted_run_asks_is_no_repetition(
    impatient: Office, script: Script, monkeypatch: pytest.MonkeyPatch, by: Callable[..., Any]
) -> None:
    """It was halted and resumed before: the same button, another halt."""
    script.answers["plan-review"] = reviews(9, 8, 0)
    asks, asked = question_wait._decided, 0

    async def slowly(*given: Any, **more: Any) -> question_wait.Decision:
        nonlocal asked
        asked += 1
        if asked == 2:
            about_to_ask.set()
            await may_ask.wait()
        return await asks(*given, **more)

    monkeypatch.setattr(question_wait, "_decided", slowly)
    about_to_ask, may_ask = asyncio.Event(), asyncio.Event()

    async def resumed(shop: Workshop, project: Project) -> ActionEffect:
        if by is restarted and (again := await restarted(shop, project)) is not None:
            return again
        return await perform(shop, project, Action.RESUME)

    async def use(shop: Workshop) -> None:
        project = await at_specification(shop)
        assert (await pressed(shop, project, Action.CONFIRM)).phase == "halted"
        await perform(shop, project, Action.RESUME)
        await asyncio.wait_for(about_to_ask.wait(), 20)
        assert (view(shop, project).phase, view(shop, project).busy) == ("halted", True)
        second = asyncio.create_task(resumed(shop, project))
        await asyncio.sleep(0.3)
        may_ask.set()
        assert (await second).changed
        assert (await seen(shop, project, await second)).phase == "done"

    impatient.do(use)


@pytest.mark.req("P-12", "P-19", "X-04")
def test_after_a_restart_a_halted_project_is_overridden_or_terminated(impatient: Office, script: Script) -> None:
    office = impatient
    office.do(lambda shop: halted(shop, script, "Taken"))
    project = office.project("taken")
    assert view(None, project).actions == ("resume", "provide_input", "override", "terminate")
    with pytest.raises(ConfirmationNeeded, match="as it is now"):
        office.do(lambda shop: pressed(shop, project, Action.OVERRIDE))
    done = office.do(lambda shop: pressed(shop, project, Action.OVERRIDE, confirmed=True))
    assert (done.phase, done.halt_reason, len(done.rounds)) == ("done", None, 1)
    assert project.info().accepted is not None

    office.do(lambda shop: halted(shop, script, "Gone"))
    project = office.project("gone")
    before = commits(project)
    with pytest.raises(ConfirmationNeeded, match="for good"):
        office.do(lambda shop: pressed(shop, project, Action.TERMINATE))
    assert commits(project) == before
    gone = office.do(lambda shop: pressed(shop, project, Action.TERMINATE, confirmed=True))
    assert (gone.phase, gone.halt_reason, gone.actions, gone.problem) == ("halted", "human_terminated", (), "")
    with pytest.raises(ActionRefused, match="for good"):
        office.do(lambda shop: pressed(shop, project, Action.RESUME))


@pytest.mark.req("P-12")
def test_what_is_being_worked_on_can_be_terminated_and_is_no_failure(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        script.gates["plan-build"] = asyncio.Event()
        project = await at_specification(shop)
        begun = await perform(shop, project, Action.CONFIRM)
        await eventually(lambda: script.of("plan-build"), "nothing was built")
        gone = await pressed(shop, project, Action.TERMINATE, confirmed=True)
        assert (gone.phase, gone.halt_reason, gone.problem, gone.actions) == ("halted", "human_terminated", "", ())
        assert shop.engine.status(str(begun.run)).state == "cancelled"
        assert not (await perform(shop, project, Action.TERMINATE, confirmed=True)).changed

    office.do(use)


@pytest.mark.req("P-06", "P-12")
def test_a_stuck_build_asks_once_and_goes_on_with_what_it_is_told(office: Office, script: Script) -> None:
    stuck = {"stuck": True, "reason": "Indoors or outdoors?", "content": ""}

    async def begin(shop: Workshop) -> None:
        script.answers["plan-build"] = lambda task: by_stand_in(task) if task.material["answers"] else json.dumps(stuck)
        project = await at_specification(shop)
        waits = await pressed(shop, project, Action.CONFIRM)
        assert (waits.phase, waits.waiting, waits.question) == ("building", "stuck", "Indoors or outdoors?")
        assert waits.actions == ("provide_input", "terminate")
        assert project.chat()[-1].content.endswith("Indoors or outdoors?")

    office.do(begin)
    project = office.project("party")

    async def blank(shop: Workshop) -> None:
        for nothing in ("", " \n\t"):
            with pytest.raises(InvalidInput, match="empty"):
                await perform(shop, project, Action.PROVIDE_INPUT, text=nothing)
        assert view(shop, project).waiting == "stuck"

    office.do(blank)
    done = office.do(lambda shop: said(shop, project, "Outdoors, with a tent."))
    assert (done.phase, done.question) == ("done", "")
    assert script.of("plan-build")[-1].material["answers"][-1]["answer"] == "Outdoors, with a tent."
    said_ = [message.content for message in project.chat()]
    assert sum("Indoors or outdoors?" in text for text in said_) == 1


@pytest.mark.req("P-14", "X-04")
def test_a_failing_agent_halts_and_a_run_that_broke_can_be_resumed(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        script.answers["brain-dump-intake"] = lambda _: AgentResponse(success=False, output="", reason="exit 2")
        project = await new(shop)
        stopped = await pressed(shop, project, Action.DISTILL)
        assert (stopped.phase, stopped.halt_reason) == ("halted", "agent_failure")
        assert stopped.actions == ("resume", "provide_input", "terminate")
        assert len(script.asked) == 2, "it is tried once more"
        del script.answers["brain-dump-intake"]
        assert (await pressed(shop, project, Action.RESUME)).phase == "human_review"

        def broken(_: Task) -> str:
            raise OSError(28, "No space left on device")

        script.answers["spec-building"] = broken
        failed = await pressed(shop, project, Action.CONFIRM)
        assert (failed.phase, failed.halt_reason, failed.busy) == ("halted", "file_system_error", False)
        assert "No space left" in failed.question
        del script.answers["spec-building"]
        fine = await pressed(shop, project, Action.RESUME)
        assert (fine.phase, fine.problem, fine.actions[0]) == ("spec_building", "", "confirm")
        assert await restarted(shop, project) is None, "nothing is interrupted any more"

    office.do(use)


async def chained(shop: Workshop, script: Script, plan: Project, code: Path) -> tuple[Project, ProjectView]:
    """A code project after a plan that is judged incomplete."""
    script.answers["brain-dump-intake"] = lambda _: CODE_INTENT
    script.answers["spec-building"] = lambda _: json.dumps(CODE_ANSWER)
    script.answers["completeness-gate"] = lambda _: json.dumps({"complete": False, "missing": ["the data model"]})
    review = {"critical": 0, "medium": 0, "minor": 0, "tests": {"total": 3, "passed": 3, "failed": 0}, "issues": []}
    script.answers["code-review"] = lambda _: json.dumps(review)
    project = await create(shop, None, agent="builtin", repository=code, after=plan)
    await say(shop, project, CLEAR)
    for action in (Action.DISTILL, Action.CONFIRM):
        await pressed(shop, project, action)
    del script.answers["brain-dump-intake"], script.answers["spec-building"]
    return project, await pressed(shop, project, Action.CONFIRM)


@pytest.mark.req("P-07", "P-12", "X-01")
def test_code_after_an_incomplete_plan_waits_for_a_person(office: Office, script: Script, make_repo: MakeRepo) -> None:
    async def use(shop: Workshop) -> None:
        plan = await at_specification(shop, "Plan")
        with pytest.raises(InvalidInput, match="not a finished plan"):
            await create(shop, "Too early", after=plan)
        await pressed(shop, plan, Action.CONFIRM)
        code = make_repo({"README.md": "code\n"})
        project, gate = await chained(shop, script, plan, code)
        assert (gate.phase, gate.halt_reason, gate.waiting) == ("halted", "plan_incomplete", "gate")
        assert gate.actions == ("override", "terminate")
        assert "the data model" in gate.question
        assert script.works == 0
        with pytest.raises(ConfirmationNeeded, match="not complete"):
            await perform(shop, project, Action.OVERRIDE)
        built = await pressed(shop, project, Action.OVERRIDE, confirmed=True)
        assert (built.phase, built.halt_reason, built.deliverable) == ("done", None, built.branch)
        assert built.tests is not None
        assert built.tests["passed"] == 3 + 2
        assert script.works

        other, gate = await chained(shop, script, plan, code)
        gone = await pressed(shop, other, Action.TERMINATE, confirmed=True)
        assert (gone.phase, gone.halt_reason, gone.actions) == ("halted", "human_terminated", ())
        assert Repository.open(code).refs.tip(str(gate.branch)) == Repository.open(code).refs.tip("main")

    office.do(use)


@pytest.mark.req("P-19")
def test_with_room_for_one_the_others_wait_in_order_and_a_halted_one_keeps_its_place(
    tmp_path: Path, script: Script
) -> None:
    office = Office.at(tmp_path / "office", "concurrency: {max_parallel_runs: 1}\npolish: {max_iterations: 1}\n")

    async def use(shop: Workshop) -> None:
        first = await halted(shop, script, "First")
        script.answers["plan-review"] = reviews(0)
        others = [await at_specification(shop, name) for name in ("Second", "Third")]
        runs = [await perform(shop, project, Action.CONFIRM) for project in others]
        rows = lambda: [shop.engine.status(str(run.run)).state for run in runs]  # noqa: E731
        await eventually(lambda: rows() == ["waiting", "waiting"], "they did not wait")
        assert [view(shop, project).busy for project in others] == [True, True]
        assert [(one.queued, one.queue_place) for one in (view(shop, p) for p in others)] == [(True, 1), (True, 2)]
        assert (view(shop, first).queued, view(shop, first).queue_place) == (False, None)
        assert not [task for task in script.of("plan-build") if task.material.get("name") == "Second"]
        await pressed(shop, first, Action.TERMINATE, confirmed=True)
        ends = await asyncio.gather(*(seen(shop, p, r) for p, r in zip(others, runs, strict=True)))
        assert [end.phase for end in ends] == ["done", "done"]
        started = [shop.engine.status(str(run.run)) for run in runs]
        assert started[0].ended is not None
        assert started[1].started is not None
        assert started[0].ended <= started[1].started, "one at a time, the first first"

    office.do(use)
