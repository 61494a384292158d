"""The demo: a brain dump that comes with Forge, taken to a finished branch. Answers are recorded; all else is real."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from forge import sandbox
from forge.app.access.identity import LOCAL, Who, require
from forge.app.admin.settings import load_settings
from forge.app.demo_recording import AGENT, RECORDING, as_recorded, recorded_workshop
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.projects.autopilot import Hear, LocalPilot, PilotOutcome, carry_on, outcome
from forge.app.projects.catalog import create, workspace_of
from forge.app.projects.project_view import ProjectView
from forge.app.projects.repository_rights import shown
from forge.app.projects.view import state_of
from forge.errors import ForgeError, Upstream
from forge.json_value import Json
from forge.pipeline.desk import TEST_RUNS
from forge.pipeline.recorded import RecordingEnded
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.settings import Settings


class DemoFailed(Upstream):
    """Something around the recorded answers did not work: the sandbox, git, the disk."""

    code = "demo_failed"


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of a demo."""

    name: str
    outcome: PilotOutcome
    baseline: str
    test_runs: tuple[Json, ...]
    """Every run of the tests, oldest first."""


def without_sandbox() -> str:
    """Why the commands of a demo cannot be confined on this machine; empty where they can."""
    return sandbox.available().reason


def brain_dump() -> str:
    return (resources.files("forge.pipeline") / "recordings" / f"{RECORDING}.txt").read_text(encoding="utf-8")


def demo_settings(environ: Mapping[str, str], place: Path | None = None) -> Settings:
    """A person's own, except for what the recording was made with. With a `place`, everything is kept there."""
    settings = as_recorded(load_settings(None, environ))
    if place is None:
        return settings
    kept = {"workspace": place / "workspace", "data_dir": place / "data", "database": None}
    return settings.model_copy(update=kept)


def clear_away(shop: Workshop) -> tuple[Path, ...]:
    """Move earlier demos into the folder `deleted` of the workspace, unless one is being worked on."""
    workspace = workspace_of(shop.settings)
    earlier = [project for project in workspace.list(archived=True).projects if _is_demo(project)]
    return tuple(
        workspace.delete(project.directory.name, confirm=project.directory.name)
        for project in earlier
        if not state_of(shop, project).busy
    )


def _is_demo(project: Project) -> bool:
    return project.info().agent == AGENT


async def show(shop: Workshop, project: Project, *, hear: Hear, began: float | None = None) -> Shown:
    """All the way, confirming what a person would confirm. Raises where it does not end well."""
    began = time.monotonic() if began is None else began
    pilot = LocalPilot(shop, project)
    await pilot.say(brain_dump(), about="problem")
    seen = await carry_on(pilot, auto_confirm=True, hear=hear)
    if seen.phase != Phase.DONE:
        raise _stopped(project, seen)
    runs = (project.records.read(TEST_RUNS) or "").splitlines()
    baseline = project.info().baseline or ""
    return Shown(seen.name, outcome(seen, began), baseline, tuple(json.loads(line) for line in runs if line.strip()))


async def begin(shop: Workshop, who: Who = LOCAL) -> Project:
    """A project like any other, except for whoever answers."""
    return await create(shop, None, who=who, agent=AGENT)


@on_work_loop
async def run_example(shop: Workshop, who: Who) -> ProjectView:
    """For a person who watches in the browser: answers are recorded, all else is real, and nobody has to confirm."""
    require(who, "write")
    require(who, "run")
    made = await begin_watched(shop, who)
    return await asyncio.to_thread(shown, shop, who, made)


async def begin_watched(shop: Workshop, who: Who) -> Project:
    """Begin the demo for somebody who watches its page: this process confirms what a person would, while it lives."""
    unconfined = without_sandbox()
    if unconfined:
        hint = "`forge demo` in a terminal runs it without a sandbox; `forge doctor` says how to get one."
        raise DemoFailed(f"The example runs its tests in the sandbox, and there is none: {unconfined}.", hint=hint)
    shop = recorded_workshop(shop)
    project = await begin(shop, who)
    pilot = LocalPilot(shop, project, who)
    await pilot.say(brain_dump(), about="problem")
    confirming = asyncio.create_task(_confirm_to_the_end(pilot, project))
    shop.tasks.add(confirming)
    confirming.add_done_callback(shop.tasks.discard)
    return project


async def _confirm_to_the_end(pilot: LocalPilot, project: Project) -> None:
    try:
        await carry_on(pilot, auto_confirm=True, hear=lambda _: None)
    except ForgeError as e:
        project.log.write("error", "error", "", f"The example stopped: {e.message}")


def _stopped(project: Project, seen: ProjectView) -> RecordingEnded | DemoFailed:
    name = project.directory.name
    waiting = project.info().waiting
    failed_run = waiting and waiting.failed
    if seen.problem or (failed_run and failed_run.code != RecordingEnded.code):
        phase = failed_run.phase if failed_run else seen.phase
        return DemoFailed(
            f"The demo failed while {phase.replace('_', ' ')}: {seen.problem or seen.question}",
            hint=f"`forge doctor` checks git and the sandbox; `forge project resume {name}` goes on.",
        )
    chat = project.chat()
    why = seen.question or (chat[-1].content if chat else "nothing was said")
    tests = seen.tests
    failed = tests is not None and (tests["failed"] or tests["exit_code"])
    tested = f" The last test run: {tests['passed']} of {tests['total']} passed." if tests and failed else ""
    return RecordingEnded(
        f"The demo stopped while {seen.phase.replace('_', ' ')}, because the recording no longer fits: {why}{tested}",
        hint=f"`forge project log {name}` shows what happened. How to record it again is in docs/demo.md.",
    )
