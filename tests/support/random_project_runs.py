"""Runs with an agent that does anything: wrong answers, failing and shrinking tests, a branch that moves by itself."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

from forge.pipeline.answerer import AgentResponse, Task
from forge.pipeline.delivery_run import deliver
from forge.pipeline.guards import GuardLimits
from forge.pipeline.journey import Parameters
from forge.pipeline.question_wait import Decision
from forge.plugins.roles import TestResults, Worked
from forge.projects.project import Project
from forge.projects.status import Phase
from tests.support.project_runs import Outside, Record, ScriptedAgents, journeys, live

_SEVERITIES = ("critical", "medium", "minor")
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Ended:
    phase: str
    accepted: bool
    rounds: int
    wrong: str
    """Why it should not be done; empty when all is as it must be."""


def run_once(seed: int, project: Project) -> Ended:
    rng = random.Random(seed)
    agents = _hands(rng)
    record = Record()
    journey_of = journeys(project, agents, Outside(), Parameters(limits=GuardLimits(max_iterations=_ROUNDS)))
    decisions = [_decision(rng) for _ in range(12)] + [Decision("terminate").to_text()] * 40
    while asyncio.run(live(journey_of, deliver, record, dying=False))[0] is None:
        record.answers.append(decisions[len(record.answers)])
    return _ended(Project.at(project.directory), agents)


def _decision(rng: random.Random) -> str:
    action = rng.choices(("resume", "input", "override", "terminate"), (6, 4, 1, 1))[0]
    return Decision(action, "Go on.").to_text()


def _hands(rng: random.Random) -> ScriptedAgents:
    broken = rng.random() < 0.3
    totals: list[int] = []

    def answers(task: Task) -> AgentResponse | str:
        chance = rng.random()
        if chance < 0.05:
            return AgentResponse(success=False, output="", exit_code=1, reason="it broke")
        if chance < (0.3 if broken else 0.1):
            return rng.choice(("", "not JSON", "{}", '{"critical": 0, "medium": 0, "minor": 0, "issues": "none"}'))
        return _review(rng)

    def tests(number: int, tip: str) -> TestResults:
        total = rng.choice((0, 1, 3, 3, 3, 4, 5)) + len(totals) // 2
        totals.append(total)
        failed = rng.choice((0, 0, 0, 0, 1)) if total else 0
        commit = rng.choice((tip, tip, tip, tip, tip, "c-other"))
        code = 1 if failed else rng.choice((0, 0, 0, 0, 0, 2))
        return TestResults(total, total - failed, failed, f"run {number}", commit=commit, exit_code=code)

    def works(number: int) -> Worked:
        good = rng.random() < 0.9
        commit, reason = (f"c{number}", "") if good else (None, "exit 1")
        return Worked(success=good, text="", commit=commit, files=("a.py",) if good else (), reason=reason)

    agents = ScriptedAgents(answers=answers, works=works, tests=tests)
    agents.moved_by = lambda _: "c-moved" if rng.random() < 0.05 else None
    return agents


def _review(rng: random.Random) -> str:
    many = rng.choice((0, 0, 1, 2, 4, 9))
    found = [rng.choice(_SEVERITIES if rng.random() < 0.5 else ("minor",)) for _ in range(many)]
    issues = [
        {"severity": s, "description": f"finding {rng.randrange(30)}", "location": "a.py", "recommendation": "mend"}
        for s in found
    ]
    told = Counter(found) if rng.random() < 0.5 else Counter()  # what a model counts decides nothing
    tests = {"total": 9, "passed": 9, "failed": 0}
    return json.dumps({**{s: told[s] for s in _SEVERITIES}, "tests": tests, "issues": issues})


def _ended(project: Project, agents: ScriptedAgents) -> Ended:
    status, info = project.status(), project.info()
    accepted = info.accepted is not None
    lines = [json.loads(x) for x in (project.directory / "test_runs.jsonl").read_text().splitlines()] if (
        project.directory / "test_runs.jsonl"
    ).exists() else []  # fmt: skip
    wrong = ""
    if status.phase is Phase.DONE and not accepted:
        wrong = _wrong(lines, agents)
    return Ended(str(status.phase), accepted, len(project.polish().convergence_trajectory), wrong)


def _wrong(lines: list[dict[str, Any]], agents: ScriptedAgents) -> str:
    """Written down again from what was promised, without the program's own judgement."""
    if not lines:
        return "done without any test run"
    last = lines[-1]
    if last["exit_code"] != 0 or last["failed"] or last["passed"] != last["total"] or last["total"] < 1:
        return f"done although the last run was {last}"
    if last["commit"] != agents.tip_now:
        return f"done although the last run was of {last['commit']}, not of {agents.tip_now}"
    if last["total"] < max(line["total"] for line in lines):
        return "done although tests went missing"
    return ""
