"""The whole way in one: from an idea to the deliverable, stopping where a person has to decide."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.app.projects.messages import all_delegated, say
from forge.app.projects.runs import ActionResult, follow
from forge.app.projects.view import ProjectView, view
from forge.errors import ForgeError
from forge.events import Event, ProjectProgressed
from forge.git import Repository
from forge.json_value import Json
from forge.pipeline.actions import Action
from forge.projects.project import Project
from forge.projects.status import Phase

Hear = Callable[[Event], None]
_ANSWERED_AT_MOST = 3
_A_MOMENT = 1.0


async def watched(shop: Workshop, project: Project, pressed: ActionResult, hear: Hear) -> ProjectView:
    """Follow the work until it has ended or waits; what the project looks like then."""
    waiting = asyncio.create_task(_tell_of_the_queue(shop, project, hear))
    try:
        async for event in follow(shop, project, pressed):
            hear(event)
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    return await asyncio.to_thread(view, shop, project)


async def _tell_of_the_queue(shop: Workshop, project: Project, hear: Hear) -> None:
    """Whoever watches a build that has no place yet would take it for one that hangs."""
    await asyncio.sleep(_A_MOMENT)
    told: int | None = None
    while (seen := await asyncio.to_thread(view, shop, project)).queued:
        if seen.queue_place != told:
            told = seen.queue_place
            text = f"number {told} in the queue: other builds are at work, or wait for a decision"
            hear(ProjectProgressed(project.id, text))
        await asyncio.sleep(_A_MOMENT)


async def carry_on(shop: Workshop, project: Project, *, auto_confirm: bool, hear: Hear) -> ProjectView:
    """Press what has to be pressed until the project is done or a person is needed."""
    seen = await asyncio.to_thread(view, shop, project)
    decided = 0
    while True:
        action: Action | None = None
        match Phase(seen.phase):
            case Phase.BRAIN_DUMP:
                action = Action.DISTILL
            case Phase.HUMAN_REVIEW if auto_confirm:
                action = Action.CONFIRM
            case Phase.SPEC_BUILDING if auto_confirm and seen.open_questions:
                decided += 1
                if decided > _ANSWERED_AT_MOST:
                    return seen
                seen = await watched(shop, project, await say(shop, project, "", given=all_delegated(seen)), hear)
                continue
            case Phase.SPEC_BUILDING if auto_confirm:
                action = Action.CONFIRM
        if action is None or seen.problem:
            return seen
        seen = await watched(shop, project, await perform(shop, project, action), hear)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `forge run` and `forge demo` end with."""

    project: str
    directory: str
    phase: str
    halt_reason: str | None
    label: str
    outline: Json | None
    deliverable: str | None
    repository: str | None
    branch: str | None
    commits: tuple[Json, ...]
    rounds: tuple[Json, ...]
    tests: Json | None
    seconds: float


def outcome(seen: ProjectView, began: float) -> Outcome:
    return Outcome(
        project=seen.id,
        directory=seen.directory,
        phase=seen.phase,
        halt_reason=seen.halt_reason,
        label=seen.label,
        outline=seen.outline,
        deliverable=seen.deliverable,
        repository=seen.repository if seen.branch else None,
        branch=seen.branch,
        commits=_commits(seen),
        rounds=tuple(_round(entry) for entry in seen.rounds),
        tests=seen.tests,
        seconds=round(time.monotonic() - began, 3),
    )


def _round(entry: Json) -> Json:
    counts = {name: entry[name] for name in ("iteration", "critical", "medium", "minor", "total")}
    verdict = {name: entry[name] for name in ("guard", "outcome", "reason")}
    return {**counts, "verdict": verdict, "mended": entry["mended"], "tests": entry["tests"]}


def _commits(seen: ProjectView) -> tuple[Json, ...]:
    """What the build made, oldest first: commits of the branch, or of the project for a document."""
    try:
        if seen.branch and seen.repository:
            repo = Repository.open(Path(seen.repository))
            found = [commit for commit in repo.log(seen.branch) if "Forge-Turn:" in commit.message]
        else:
            found = list(Repository.open(Path(seen.directory)).log("HEAD"))
    except ForgeError:
        return ()
    return tuple({"id": commit.id, "subject": commit.subject} for commit in reversed(found))
