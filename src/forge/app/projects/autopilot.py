"""The whole way in one: from an idea to the deliverable, stopping where a person has to decide."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from forge.app.access.identity import LOCAL, Who
from forge.app.process.workshop import Workshop
from forge.app.projects.audited_actions import perform_found, say_found
from forge.app.projects.messages import About, Given, all_delegated
from forge.app.projects.named_run import ActionEffect
from forge.app.projects.runs import follow
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


class Pilot(Protocol):
    """One project, wherever its work is done: in this process or in a server."""

    async def view(self) -> ProjectView: ...

    async def say(self, text: str, *, given: Sequence[Given] = (), about: About | None = None) -> ActionEffect: ...

    async def perform(self, action: str) -> ActionEffect: ...

    def follow(self, done: ActionEffect) -> AsyncIterator[Event]:
        """Events of the run that an action started, until it has ended or waits for a person."""


class LocalPilot:
    """Its work is done by this process, for `who`."""

    def __init__(self, shop: Workshop, project: Project, who: Who = LOCAL) -> None:
        self._shop = shop
        self._project = project
        self._who = who

    async def view(self) -> ProjectView:
        return await asyncio.to_thread(view, self._shop, self._project)

    async def say(self, text: str, *, given: Sequence[Given] = (), about: About | None = None) -> ActionEffect:
        return await say_found(self._shop, self._who, self._project, text, given=given, about=about)

    async def perform(self, action: str) -> ActionEffect:
        return await perform_found(self._shop, self._who, self._project, action)

    def follow(self, done: ActionEffect) -> AsyncIterator[Event]:
        return follow(self._shop, self._project, done)


async def watch(pilot: Pilot, done: ActionEffect, hear: Hear) -> ProjectView:
    """Follow the work until it has ended or waits; what the project looks like then."""
    waiting = asyncio.create_task(_show_queue_place(pilot, hear))
    try:
        async for event in pilot.follow(done):
            hear(event)
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    return await pilot.view()


async def _show_queue_place(pilot: Pilot, hear: Hear) -> None:
    """Whoever watches a build that has no place yet would take it for one that hangs."""
    await asyncio.sleep(_A_MOMENT)
    last: int | None = None
    while (seen := await pilot.view()).queued:
        if seen.queue_place != last:
            last = seen.queue_place
            text = f"number {last} in the queue: other builds are running, or wait for a decision"
            hear(ProjectProgressed(seen.id, text))
        await asyncio.sleep(_A_MOMENT)


async def carry_on(pilot: Pilot, *, auto_confirm: bool, hear: Hear) -> ProjectView:
    """Perform the next action until the project is done or a person is needed."""
    seen = await pilot.view()
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
                seen = await watch(pilot, await pilot.say("", given=all_delegated(seen)), hear)
                continue
            case Phase.SPEC_BUILDING if auto_confirm:
                action = Action.CONFIRM
        if action is None or seen.problem:
            return seen
        seen = await watch(pilot, await pilot.perform(action), hear)


@dataclass(frozen=True, slots=True)
class PilotOutcome:
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


def outcome(seen: ProjectView, began: float) -> PilotOutcome:
    return PilotOutcome(
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
