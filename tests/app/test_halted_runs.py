"""A run that fails where the project's files cannot be written: every face shows the halt, and Retry goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.app.projects.board import board_of
from forge.app.projects.catalog import workspace_of
from forge.app.projects.named_run import run_named
from forge.app.projects.view import STOPPED, view, views
from forge.app.projects.work_stop import end_run, stop_work
from forge.events import BOARD, ProjectMoved
from forge.pipeline.actions import Action
from forge.pipeline.answerer import Task
from forge.projects.errors import ProjectUnwritable
from tests.support.scripted_projects import Office, Script, by_stand_in, new, office, pressed, script

__all__ = ["office", "script"]
pytestmark = pytest.mark.req("P-11", "P-14", "X-04")

WAYS = {
    "distilling": ("brain-dump-intake", (), Action.DISTILL, "human_review"),
    "spec_building": ("spec-building", (Action.DISTILL,), Action.CONFIRM, "spec_building"),
    "building": ("plan-build", (Action.DISTILL, Action.CONFIRM), Action.CONFIRM, "done"),
}


@contextmanager
def unwritable(git_dir: Path) -> Iterator[None]:
    """Also for root, who may write everywhere: the lock cannot be opened for writing."""
    lock = git_dir / "forge/records.lock"
    lock.unlink()
    lock.mkdir()
    try:
        yield
    finally:
        lock.rmdir()
        lock.touch()


@pytest.mark.parametrize("phase", WAYS)
def test_it_is_shown_halted_everywhere_and_retry_goes_on_when_the_disk_is_back(
    phase: str, office: Office, script: Script
) -> None:
    prompt, before, last, after = WAYS[phase]
    disk = None

    async def use(shop: Workshop) -> str:
        nonlocal disk
        project = await new(shop)
        for action in before:
            await pressed(shop, project, action)

        def fail(task: Task) -> str:
            nonlocal disk
            if disk is None:
                disk = unwritable(project.directory / ".git")
                disk.__enter__()
            return by_stand_in(task)

        script.answers[prompt] = fail
        heard: list[object] = []

        async def hear() -> None:
            async for item in shop.events.follow(BOARD, shop.events.last(BOARD)):
                heard.append(item.event)  # noqa: PERF401 - read while it goes on

        listening = asyncio.create_task(hear())
        await asyncio.sleep(0.05)
        shown = await pressed(shop, project, last)
        assert disk is not None
        assert project.status().phase == phase, "the files could not be written"
        assert (shown.phase, shown.busy, shown.halt_reason) == ("halted", False, "file_system_error")
        assert shown.question
        assert {"resume", "terminate"} <= set(shown.actions)
        async with asyncio.timeout(20):
            while not any(isinstance(each, ProjectMoved) and each.phase == "halted" for each in heard):
                await asyncio.sleep(0.02)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        with pytest.raises(ProjectUnwritable):
            await perform(shop, project, Action.RESUME)
        return shown.question

    question = office.do(use)

    async def look(shop: Workshop) -> None:
        """In another process."""
        project = office.project("party")
        assert view(shop, project).question == question
        ((_, listed),), broken = views(shop, workspace_of(shop.settings).by_id())
        assert (listed.phase, listed.label, broken) == ("halted", "Halted: files could not be written", ())
        halted = next(column for column in board_of(shop).columns if column.phase == "halted")
        assert [(card.row.name, card.row.waiting) for card in halted.cards] == [(listed.name, question)]

    office.do(look)
    assert disk is not None
    disk.__exit__(None, None, None)

    async def again(shop: Workshop) -> None:
        project = office.project("party")
        shown = await pressed(shop, project, Action.RESUME)
        assert shown.phase == after, (shown.question, shown.problem)
        assert "halted" in shown.phase_times, "the halt was written first"

    office.do(again)


def test_a_project_that_was_halted_so_can_be_terminated(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop)
        with unwritable(project.directory / ".git"):
            lock = project.directory / ".git/forge/records.lock"
            lock.rmdir()
            lock.touch()

            def fail(task: Task) -> str:
                lock.unlink()
                lock.mkdir()
                return by_stand_in(task)

            script.answers["brain-dump-intake"] = fail
            assert (await pressed(shop, project, Action.DISTILL)).phase == "halted"
        await perform(shop, project, Action.TERMINATE, confirmed=True)
        assert project.status().terminated

    office.do(use)


@pytest.mark.parametrize("phase", WAYS)
def test_work_stopped_where_the_halt_cannot_be_written_is_shown_as_stopped_and_goes_on(
    phase: str, office: Office, script: Script
) -> None:
    prompt, before, last, after = WAYS[phase]

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        for action in before:
            await pressed(shop, project, action)
        asked = script.gates[prompt] = asyncio.Event()
        await perform(shop, project, last)
        async with asyncio.timeout(20):
            while not script.of(prompt):
                await asyncio.sleep(0.01)
        with unwritable(project.directory / ".git"):
            await stop_work(shop, project)
            assert project.status().phase == phase, "the files could not be written"
            shown = view(shop, project)
            assert (shown.phase, shown.label, shown.busy) == ("halted", STOPPED, False)
            assert {"resume", "terminate"} <= set(shown.actions)
            halted = next(column for column in board_of(shop).columns if column.phase == "halted")
            assert [card.row.name for card in halted.cards] == [shown.name]
        asked.set()
        script.gates.clear()
        assert (await pressed(shop, project, Action.RESUME)).phase == after

    office.do(use)


def test_a_run_that_was_cancelled_without_a_word_to_the_project_leaves_it_halted(
    office: Office, script: Script
) -> None:
    """Such as by a process that died between both."""

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        script.gates["brain-dump-intake"] = asyncio.Event()
        await perform(shop, project, Action.DISTILL)
        run = run_named(project)
        assert run is not None
        await end_run(shop, run)
        assert (view(shop, project).phase, view(shop, project).label) == ("halted", STOPPED)
        await perform(shop, project, Action.TERMINATE, confirmed=True)
        assert project.status().terminated
        assert "You stopped it" not in project.chat()[-1].content

    office.do(use)
