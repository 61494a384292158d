"""Killed at every point of every phase, a run comes to the same end: nothing lost, doubled or asked twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forge.pipeline.delivery_run import deliver
from forge.pipeline.distill_phase import distill
from forge.pipeline.draft import Draft
from forge.pipeline.guards import GuardLimits
from forge.pipeline.journey import Parameters
from forge.pipeline.question_wait import Decision
from forge.pipeline.specify_phase import specify
from forge.plugins.roles import Worked
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.support.project_runs import (
    CODE_CONSTRAINTS,
    CODE_INTENT,
    CODE_SPEC,
    MemorySteps,
    Outside,
    Record,
    ScriptedAgents,
    at_phase,
    commits,
    journeys,
    live,
)

DUMP = (
    "We want to plan a summer party for our club. The budget is 1500 euros and must not be exceeded. "
    "It should be in July. I am not sure whether we need a permit. We need food for vegetarians."
)
pytestmark = pytest.mark.req("P-11", "X-04")


def new_project(place: Path) -> Project:
    return Workspace(place).create("Party", agent="scripted", now=datetime(2026, 1, 1, tzinfo=UTC))


def dumped(project: Project) -> None:
    def change(read: Any) -> Any:
        draft = Draft(read, 1.0)
        draft.say(DUMP, "human")
        draft.move(Phase.DISTILLING)
        return draft.files()

    project.records.update(change, "dump")


def review(*severities: str) -> str:
    counts = Counter(severities)
    issues = [
        {"severity": s, "description": f"{s} finding {n}", "location": "a.py", "recommendation": "mend it"}
        for n, s in enumerate(severities)
    ]
    tests = {"total": 1, "passed": 1, "failed": 0}
    return json.dumps({**{s: counts[s] for s in ("critical", "medium", "minor")}, "tests": tests, "issues": issues})


def code_agents() -> ScriptedAgents:
    reviews = [review("critical", "medium"), "this is no JSON", review("medium"), review()]
    return ScriptedAgents(answers=lambda task: reviews[min(task.nth, len(reviews)) - 1])


def steps_of(messages: list[str]) -> list[str]:
    return [line for message in messages for line in message.splitlines() if line.startswith("Forge-Step:")]


def outcome(project: Project, record: Record, outside: Outside) -> dict[str, Any]:
    """What has to be the same, however often the process died. Times differ."""
    fresh = Project.at(project.directory)
    polish = fresh.polish()
    return {
        "phase": fresh.status().phase,
        "chat": [(m.role, m.content) for m in fresh.chat()],
        "trajectory": [(r.iteration, r.critical, r.medium, r.minor) for r in polish.convergence_trajectory],
        "subjects": [message.partition("\n")[0] for message in commits(project.directory)],
        "questions": record.questions,
        "notices": [(n.phase, n.event_type, n.summary) for n in outside.notices.values()],
        "events": [type(event).__name__ for event in record.told.values()],
        "documents": {
            path.name: path.read_text()
            for path in sorted((project.directory / "docs").iterdir())
            if path.suffix == ".md"
        },
    }


def both(
    tmp_path: Path, prepare: Any, run: Any, agents: Any, answers: tuple[str, ...] = ()
) -> tuple[dict[str, Any], int]:
    """The same run once undisturbed and once killed at every point; what the killed one came to, and its lives."""
    ends = []
    lives = 0
    for name, dying in (("whole", False), ("killed", True)):
        project = new_project(tmp_path / name)
        prepare(project)
        record, outside, who = Record(answers=[*answers]), Outside(), agents()
        journey_of = journeys(project, who, outside, Parameters(limits=GuardLimits(max_iterations=6)))
        _, lives = asyncio.run(live(journey_of, run, record, dying=dying))
        end = outcome(project, record, outside)
        ends.append((end, who))
        steps = steps_of(commits(project.directory))
        assert len(steps) == len(set(steps)), "a step was committed twice"
    (whole, undisturbed), (killed, died) = ends
    assert killed == whole
    assert died.worked == undisturbed.worked
    return killed, lives


@pytest.mark.req("P-04")
def test_a_distillation_killed_at_every_point_ends_as_one_that_was_not(tmp_path: Path) -> None:
    end, lives = both(tmp_path, dumped, distill, ScriptedAgents)
    assert end["phase"] is Phase.HUMAN_REVIEW
    assert lives > 10


@pytest.mark.req("P-05")
def test_a_specification_killed_at_every_point_ends_as_one_that_was_not(tmp_path: Path) -> None:
    def prepare(project: Project) -> None:
        dumped(project)
        asyncio.run(live(journeys(project, ScriptedAgents(), Outside()), distill, Record(), dying=False, name="distil"))

        def confirm(read: Any) -> Any:
            draft = Draft(read, 2.0)
            draft.set_type("plan")
            draft.move(Phase.SPEC_BUILDING)
            return draft.files()

        project.records.update(confirm, "confirm")

    end, lives = both(tmp_path, prepare, specify, ScriptedAgents)
    assert end["phase"] is Phase.SPEC_BUILDING
    assert set(end["documents"]) == {"constraints.md", "intent.md", "spec.md"}
    assert lives > 10


def ready_for_code(project: Project) -> None:
    files = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}
    at_phase(project, Phase.BUILDING, files, kind="code")


@pytest.mark.req("P-07", "P-09", "P-10")
def test_a_build_with_polishing_killed_at_every_point_ends_as_one_that_was_not(tmp_path: Path) -> None:
    end, lives = both(tmp_path, ready_for_code, deliver, code_agents)
    assert end["phase"] is Phase.DONE
    assert end["trajectory"] == [(1, 1, 1, 0), (2, 0, 1, 0)]
    assert lives > 60


@pytest.mark.req("P-12", "P-19")
def test_a_stuck_build_asks_once_and_goes_on_with_the_answer_however_often_it_dies(tmp_path: Path) -> None:
    def agents() -> ScriptedAgents:
        made = code_agents()
        done = Worked(success=True, text="", files=("a.py",))
        failed = Worked(success=False, text="", reason="exit 1")
        made.works = lambda n: replace(done, commit=f"c{n}") if n > 2 else failed
        return made

    answer = Decision("input", "Use the standard library.").to_text()
    end, _ = both(tmp_path, ready_for_code, deliver, agents, (answer,))
    assert end["phase"] is Phase.DONE
    assert len(end["questions"]) == 1


@pytest.mark.slow
def test_a_halted_run_waits_and_is_resumed_overridden_or_terminated(tmp_path: Path) -> None:
    def agents() -> ScriptedAgents:
        totals = [6, 5, 4, 9, 9, 9]
        return ScriptedAgents(answers=lambda task: review(*["medium"] * totals[min(task.nth, len(totals)) - 1]))

    waits, _ = both(tmp_path / "waits", ready_for_code, deliver, agents)
    assert (waits["phase"], len(waits["questions"])) == (Phase.HALTED, 1)
    decisions = (Decision("resume").to_text(), Decision("override").to_text())
    taken, _ = both(tmp_path / "taken", ready_for_code, deliver, agents, decisions)
    assert (taken["phase"], len(taken["questions"]), len(taken["trajectory"])) == (Phase.DONE, 2, 6)
    gone, _ = both(tmp_path / "gone", ready_for_code, deliver, agents, (Decision("terminate").to_text(),))
    assert gone["phase"] is Phase.HALTED
    assert "for good" in gone["chat"][-1][1]


def test_recorded_steps_are_not_done_again(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    ready_for_code(project)
    record, agents = Record(), code_agents()
    journey_of = journeys(project, agents, Outside())
    asyncio.run(live(journey_of, deliver, record, dying=False))
    before = (list(agents.asked), agents.tested, commits(project.directory))
    asyncio.run(deliver(journey_of(MemorySteps(record))))
    assert (agents.asked, agents.tested, commits(project.directory)) == before


@pytest.mark.req("B-05")
@pytest.mark.parametrize("dying", [False, True])
def test_without_a_model_the_run_ends_with_one_outline_and_one_notice(tmp_path: Path, *, dying: bool) -> None:
    project = new_project(tmp_path)
    agents, outside, record = ScriptedAgents(name="builtin"), Outside(), Record()
    dumped(project)
    asyncio.run(live(journeys(project, agents, outside), distill, Record(), dying=False, name="distil-1"))
    at_building(project, agents, outside)
    asyncio.run(live(journeys(project, agents, outside), deliver, record, dying=dying, name="deliver-1"))
    status = project.status()
    assert (status.phase, status.halt_reason) == (Phase.HALTED, "phase3_output_incomplete")
    [notice] = [each for each in outside.notices.values() if each.summary.startswith("Outline ready")]
    assert (notice.event_type, notice.summary.endswith("Connect a model to write it.")) == ("human_needed", True)
    assert sum(message.startswith("outline: ready") for message in commits(project.directory)) == 1
    assert record.questions == [], "an outline takes no place in the queue"


def at_building(project: Project, agents: ScriptedAgents, outside: Outside) -> None:
    def confirmed(read: Any) -> Any:
        draft = Draft(read, 2.0)
        draft.set_type("plan")
        draft.move(Phase.SPEC_BUILDING)
        return draft.files()

    project.records.update(confirmed, "confirmed")
    asyncio.run(live(journeys(project, agents, outside), specify, Record(), dying=False, name="specify-1"))

    def built(read: Any) -> Any:
        draft = Draft(read, 3.0)
        draft.move(Phase.BUILDING)
        return draft.files()

    project.records.update(built, "confirmed")
