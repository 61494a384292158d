"""The demo: a brain dump that comes with Forge, taken to a finished branch. Answers are recorded; all else is real."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from forge import sandbox
from forge.app.projects import create, workspace_of
from forge.app.running import Hear, Outcome, carry_on, outcome
from forge.app.saying import say
from forge.app.settings import load_settings
from forge.app.views import ProjectView, state_of
from forge.app.workshop import Workshop
from forge.errors import Upstream
from forge.pipeline.desk import TEST_RUNS
from forge.pipeline.draft import info_of
from forge.pipeline.recorded import RecordingEnded
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.settings import Settings

Json = dict[str, Any]
RECORDING = "demo"
AGENT = f"recorded:{RECORDING}"
_AS_RECORDED = ("polish", "phase3_completeness", "brain_dump", "notifications")


class DemoFailed(Upstream):
    """Something around the recorded answers did not work: the sandbox, git, the disk."""

    code = "demo_failed"


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of a demo."""

    name: str
    outcome: Outcome
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
    settings = load_settings(None, environ)
    defaults = Settings()
    # Nobody wants to be told of a demo, and other limits would need other answers.
    changes: Json = {"boards": {}, **{name: getattr(defaults, name) for name in _AS_RECORDED}}
    if place is not None:
        changes |= {"workspace": place / "workspace", "data_dir": place / "data", "database": None}
    return settings.model_copy(update=changes)


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
    return info_of(project).get("agent") == AGENT


async def show(shop: Workshop, project: Project, *, hear: Hear, began: float | None = None) -> Shown:
    """All the way, confirming what a person would confirm. Raises where it does not end well."""
    began = time.monotonic() if began is None else began
    await say(shop, project, brain_dump())
    seen = await carry_on(shop, project, auto_confirm=True, hear=hear)
    if seen.phase != Phase.DONE:
        raise _stopped(project, seen)
    runs = (project.records.read(TEST_RUNS) or "").splitlines()
    baseline = info_of(project)["baseline"]
    return Shown(seen.name, outcome(seen, began), baseline, tuple(json.loads(line) for line in runs if line.strip()))


async def begin(shop: Workshop) -> Project:
    """A project like any other, except for who answers."""
    return await create(shop, None, agent=AGENT)


def _stopped(project: Project, seen: ProjectView) -> RecordingEnded | DemoFailed:
    name = project.directory.name
    if seen.problem:
        return DemoFailed(
            f"The demo failed while {seen.phase.replace('_', ' ')}: {seen.problem}",
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
