"""A project's runs without an engine: steps that remember, and that can end the process at any point."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from forge import builtin_rules
from forge.agents.decision_request import DecisionRequest
from forge.builtin import offer
from forge.engine.run import Reply
from forge.events import Event
from forge.git import Repository
from forge.pipeline.answerer import AgentResponse, Order, Task
from forge.pipeline.draft import Draft
from forge.pipeline.journey import Around, Journey, Parameters
from forge.plugins.roles import Card, Notice, TestResults, Worked
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.prompts import Prompts
from forge.question_kinds import QuestionKind
from forge.sessions.redaction import Redactor
from tests.support import project_model

Json = dict[str, Any]

CODE_INTENT = """# Durations

## Deliverable Type

Code — a module.

## Objective

Parse durations.

## Assumptions

- None

## Constraints

- None

## Unknowns

- None

## Open Questions

- None
"""
CODE_SPEC = "# Durations — Specification\n\n## Deliverable Structure\n\none module\n\n### Tasks\n\n1. Parse (tests)\n"
CODE_CONSTRAINTS = "# Durations — Review Constraints\n\n## Acceptance Criteria\n\n" + "\n".join(
    f"{n}. It does {n}." for n in range(1, 6)
)


class Killed(BaseException):
    """The process is gone."""


class Waiting(BaseException):
    """The run waits for a person."""


@dataclass
class Record:
    """What survives a process: recorded steps, questions with their answers, events by their place."""

    steps: dict[str, str] = field(default_factory=dict)
    questions: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    told: dict[str, Event] = field(default_factory=dict)
    survived: set[str] = field(default_factory=set)


class MemorySteps:
    """One life of a run. With `dying`, each life ends at the first point that none has passed before."""

    def __init__(self, record: Record, *, run: str = "run-1", dying: bool = False) -> None:
        self.id = run
        self._record = record
        self._dying = dying
        self._number = 0
        self._emitted = 0
        self._asked = 0

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        self._number += 1
        key = f"{self.id}/{self._number}/{name}"
        if key not in self._record.steps:
            self._point(f"{key}/before")
            result = json.dumps(await function())
            self._point(f"{key}/done and not recorded")
            self._record.steps[key] = result
            self._point(f"{key}/recorded")
        return json.loads(self._record.steps[key])

    def emit(self, event: Event, *, topic: str | None = None) -> None:
        if topic is not None:
            return
        self._emitted += 1
        self._record.told[f"{self.id}/{self._emitted}"] = event

    async def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        kind: QuestionKind = QuestionKind.TEXT,
        timeout: float | None = None,
        context: str = "",
    ) -> Reply:
        self._asked += 1
        question = (f"{self.id}.q{self._asked}", text)
        if question not in self._record.questions:
            self._point(f"{question[0]}/before")
            self._record.questions.append(question)
            self._point(f"{question[0]}/asked")
        if len(self._record.answers) < self._asked:
            raise Waiting
        return Reply("answered", self._record.answers[self._asked - 1])

    def _point(self, name: str) -> None:
        if self._dying and name not in self._record.survived:
            self._record.survived.add(name)
            raise Killed


async def live(journey_of: Callable[[MemorySteps], Journey], run: Callable[[Journey], Awaitable[Json]], record: Record,
               *, dying: bool, name: str = "run-1") -> tuple[Json | None, int]:  # fmt: skip
    """Start again after each death, until the run has ended or waits. Gives its result and the number of lives."""
    lives = 0
    while True:
        lives += 1
        assert lives < 5_000, "it never ends"
        try:
            return await run(journey_of(MemorySteps(record, run=name, dying=dying))), lives
        except Killed:
            continue
        except Waiting:
            return None, lives


def more_with_each(tip: str) -> TestResults:
    """All pass, and each turn brought a test."""
    many = 3 + int(re.sub(r"\D", "", tip) or 0)
    return TestResults(many, many, 0, "ok", commit=tip)


@dataclass
class ScriptedAgents:
    """Answers by a function of prompt and place; works and tests by functions of how often they were done."""

    answers: Callable[[Task], AgentResponse | str] = lambda task: project_model.answer(task.prompt, task.material)
    works: Callable[[int], Worked] = lambda n: Worked(success=True, text=f"work {n}", commit=f"c{n}", files=("a.py",))
    tests: Callable[[int, str], TestResults] = lambda n, tip: more_with_each(tip)
    tip_now: str = "c0"
    name: str = "scripted"
    sees: bool = False
    worked: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    tested: int = 0
    moved_by: Callable[[int], str | None] = lambda _: None
    looked: int = 0
    facts: Json = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)

    async def answer(self, task: Task) -> AgentResponse:
        self.asked.append(f"{task.prompt} {task.nth}")
        self.tasks.append(task)
        given = builtin_rules.answer(task.prompt, task.material) if self.by_rules(task.prompt) else self.answers(task)
        return given if isinstance(given, AgentResponse) else AgentResponse(success=True, output=given)

    def who(self, prompt: str) -> str:
        return self.name

    def by_rules(self, prompt: str) -> bool:
        return self.name == "builtin"

    async def work(self, steps: MemorySteps, place: str, order: Order) -> Worked:
        self.orders.append(order)

        async def act() -> Json:
            # A turn is found again by its place: done twice, it is one commit.
            if place not in self.worked:
                self.worked.append(place)
            done = self.works(self.worked.index(place) + 1)
            if done.commit:
                self.tip_now = done.commit
            told = {"success": done.success, "text": done.text, "commit": done.commit, "reason": done.reason}
            return {**told, "files": [*done.files], "decision": asdict(done.decision) if done.decision else None}

        done = await steps.step(f"{place}: turn", act)
        asked = DecisionRequest.from_json(done["decision"]) if done["decision"] else None
        return Worked(**{**done, "files": tuple(done["files"]), "decision": asked})

    async def begin_branch(self, branch: str, baseline: str | None) -> Json:
        return {"baseline": baseline or "c0", "tip": "c0"}

    async def tip(self, branch: str) -> str | None:
        self.looked += 1
        return self.moved_by(self.looked) or self.tip_now

    async def run_tests(
        self, branch: str, *, since: str | None = None, known: TestResults | None = None
    ) -> TestResults:
        if known is not None and known.commit == self.tip_now and not known.cannot_run:
            return known
        self.tested += 1
        return self.tests(self.tested, self.tip_now)

    async def test_command(self, branch: str) -> str:
        return "`python3 -m pytest -q` (pytest.ini)"

    async def changed_files(self, branch: str, baseline: str | None) -> Mapping[str, str]:
        return {"a.py": "print()\n"}

    async def changes(self, branch: str, baseline: str | None) -> Json:
        return {"scope": "all of it", "new_files": "=== a.py\n    1  print()"}

    async def repository(self) -> Json:
        return dict(self.facts)

    async def environment(self) -> str:
        return "Installed programs: python3 3.11."


@dataclass
class Outside:
    """Who was told what."""

    notices: dict[str, Notice] = field(default_factory=dict)
    cards: list[Card] = field(default_factory=list)
    ticks: float = 1_700_000_000.0

    def now(self) -> float:
        self.ticks += 1
        return self.ticks


def journeys(
    project: Project, agents: ScriptedAgents, outside: Outside, parameters: Parameters | None = None
) -> Callable[[MemorySteps], Journey]:
    async def mirror(cards: Mapping[str, str], card: Card) -> Json:
        outside.cards.append(card)
        return {"cards": {}, "warnings": []}

    around = Around(
        agents=agents,
        instructions=Prompts(None).get,
        types={type_.name: type_ for type_ in offer().deliverables},
        parameters=parameters or Parameters(),
        now=outside.now,
        notify=lambda key, notice: outside.notices.setdefault(key, notice) and None,
        mirror=mirror,
        paid=lambda step, response: None,
        redact=Redactor().text,
    )
    # A life begins with what is on the disk.
    return lambda steps: Journey(Project.at(project.directory), steps, around)


def at_phase(project: Project, phase: Phase, files: Mapping[str, str], *, kind: str, **info: Any) -> None:
    """A project as it is when a person has just confirmed."""
    way = (Phase.DISTILLING, Phase.HUMAN_REVIEW, Phase.SPEC_BUILDING, Phase.BUILDING, Phase.POLISHING, Phase.DONE)

    def change(read: Any) -> Any:
        draft = Draft(read, 1_700_000_000.0)
        for path, text in files.items():
            draft.write(path, text)
        draft.set_type(kind)
        draft.info = replace(draft.info, branch="forge/build-x", repository="/nowhere", **info)
        for each in way[: way.index(phase) + 1]:
            draft.move(each)
        return draft.files()

    project.records.update(change, "set up")


def commits(project: Path) -> list[str]:
    return [commit.message for commit in Repository.open(project).log("HEAD")]


CODE_ANSWER: dict[str, Any] = {
    "challenges": [],
    "resolutions": [],
    "questions": [],
    "spec": {
        "overview": "Parses durations",
        "structure": {
            "architecture": "one module",
            "language": "Python",
            "framework": "none",
            "tools": ["unittest"],
            "tasks": [{"id": "parse", "title": "Parse", "tests": True}],
        },
        "decisions": ["unittest"],
        "dependencies": ["Python"],
        "included": ["parsing"],
        "excluded": ["formatting"],
    },
    "constraints": {
        "context": "durations",
        "priorities": ["right"],
        "exclusions": ["style"],
        "severities": {"critical": "wrong", "medium": "fails", "minor": "slow"},
        "scope": ["a.py"],
        "criteria": [f"It does {n}." for n in range(5)],
    },
}
"""What a writer answers for a small code project, with nothing open."""
