"""Somebody with projects: Forge on directories of its own, with the built-in rules or a script for an agent."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from forge.app.process.workshop import Workshop, open_workshop
from forge.app.projects.actions import perform
from forge.app.projects.agents import ProjectAgents
from forge.app.projects.autopilot import LocalPilot, watch
from forge.app.projects.catalog import create, workspace_of
from forge.app.projects.chosen_agents import ChosenAgents
from forge.app.projects.messages import say
from forge.app.projects.named_run import ActionEffect
from forge.app.projects.view import ProjectView
from forge.events import Event
from forge.git import Repository
from forge.pipeline.actions import Action
from forge.pipeline.answerer import AgentResponse, Order, Task
from forge.plugins.roles import TestResults, Worked
from forge.projects.project import Project
from forge.settings import Settings, load
from tests.support import project_model

T = TypeVar("T")
Answer = Callable[[Task], str | AgentResponse]

CLEAR = (
    "We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be exceeded. "
    "It should be on the second Saturday in July, in the garden of the club house. We need food for vegetarians."
)
OPEN = f"{CLEAR} I am not sure whether we need a permit. Should we invite families?"


@dataclass(frozen=True, slots=True)
class Office:
    place: Path

    @classmethod
    def at(cls, place: Path, config: str = "") -> Office:
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.yaml").write_text(config)
        return cls(place)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "FORGE_DATA_DIR": str(self.place / "data"),
            "FORGE_CONFIG": str(self.place / "config.yaml"),
            "FORGE_WORKSPACE": str(self.place / "workspace"),
        }

    @property
    def settings(self) -> Settings:
        return load(self.environ)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Workshop]:
        async with open_workshop(self.settings, self.environ) as shop:
            yield shop

    def do(self, use: Callable[[Workshop], Awaitable[T]]) -> T:
        """In a Forge that is opened for this and closed again, as a command does."""

        async def using() -> T:
            async with self.opened() as shop:
                return await use(shop)

        return asyncio.run(using())

    def project(self, which: str) -> Project:
        return workspace_of(self.settings).open(which)


async def new(shop: Workshop, name: str | None = "Party", dump: str = CLEAR, **options: Any) -> Project:
    """A project that somebody has said something to."""
    project = await create(shop, name, agent="builtin", **options)
    if dump:
        await say(shop, project, dump, about="problem")
    return project


async def pressed(shop: Workshop, project: Project, action: Action, **options: Any) -> ProjectView:
    """Press and wait for what follows from it."""
    return await seen(shop, project, await perform(shop, project, action, **options))


async def said(shop: Workshop, project: Project, text: str) -> ProjectView:
    return await seen(shop, project, await say(shop, project, text))


async def seen(shop: Workshop, project: Project, what: ActionEffect, heard: list[Event] | None = None) -> ProjectView:
    events = [] if heard is None else heard
    return await watch(LocalPilot(shop, project), what, events.append)


async def at_specification(shop: Workshop, name: str = "Party", dump: str = CLEAR) -> Project:
    project = await new(shop, name, dump)
    await pressed(shop, project, Action.DISTILL)
    await pressed(shop, project, Action.CONFIRM)
    return project


@dataclass
class Script:
    """What an agent says, by prompt; a stand-in for a model answers the rest. Code is done and tested as it says."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[Task] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    """The answer to a prompt waits for its gate, if it has one."""
    works: int = 0

    def of(self, prompt: str) -> list[Task]:
        return [task for task in self.asked if task.prompt == prompt]

    async def answer(self, task: Task) -> AgentResponse:
        self.asked.append(task)
        if task.prompt in self.gates:
            await self.gates[task.prompt].wait()
        given = self.answers[task.prompt](task) if task.prompt in self.answers else by_stand_in(task)
        return given if isinstance(given, AgentResponse) else AgentResponse(success=True, output=given)


def by_stand_in(task: Task) -> str:
    return project_model.answer(task.prompt, task.material)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    return scripted(monkeypatch)


def scripted(monkeypatch: pytest.MonkeyPatch) -> Script:
    """In the place of whoever would answer."""
    made = Script()

    async def answer(_: ProjectAgents, task: Task) -> AgentResponse:
        return await made.answer(task)

    async def work(agents: ProjectAgents, steps: Any, place: str, order: Order) -> Worked:
        made.works += 1
        assert agents.code is not None
        files = Repository.open(agents.code).workspace(order.branch)
        files.write_file(f"test_{made.works}.py", "import unittest\n")
        return Worked(success=True, text="done", commit=files.commit(f"work {made.works}"), files=("test.py",))

    async def run_tests(agents: ProjectAgents, branch: str, **_: Any) -> TestResults:
        tip, many = str(await agents.tip(branch)), 3 + made.works
        return TestResults(many, many, 0, "ok", commit=tip, exit_code=0, command="python -m tests")

    monkeypatch.setattr(ProjectAgents, "answer", answer)
    monkeypatch.setattr(ChosenAgents, "by_rules", lambda *_: False)
    monkeypatch.setattr(ProjectAgents, "work", work)
    monkeypatch.setattr(ProjectAgents, "run_tests", run_tests)
    return made


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path / "office")


def reviews(*totals: int) -> Callable[[Task], str]:
    """Reviews with so many medium findings, each time others."""

    def review(task: Task) -> str:
        many = totals[min(task.nth, len(totals)) - 1]
        issues = [
            {"severity": "medium", "description": f"{task.nth} {n}" * 9, "location": "Food", "recommendation": "mend"}
            for n in range(many)
        ]
        return json.dumps({"critical": 0, "medium": many, "minor": 0, "issues": issues})

    return review
