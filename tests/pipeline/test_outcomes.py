"""What a test run comes to decides how a code project goes on: asked at once, done with known failures, or stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forge.agents.decision_request import DecisionRequest
from forge.app.projects import catalog
from forge.pipeline.delivery_run import deliver
from forge.pipeline.question_wait import Decision
from forge.plugins.roles import TestResults, Worked
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.support.project_runs import (
    CODE_CONSTRAINTS,
    CODE_INTENT,
    CODE_SPEC,
    Outside,
    Record,
    ScriptedAgents,
    at_phase,
    journeys,
    live,
)

pytestmark = pytest.mark.req("P-07", "P-09")

COUNTS = {"total": 1, "passed": 1, "failed": 0}
EMPTY = json.dumps({"critical": 0, "medium": 0, "minor": 0, "tests": COUNTS, "issues": []})
ONE = {"severity": "critical", "description": "wrong", "location": "a.py", "recommendation": "mend it"}
FOUND = json.dumps({"critical": 1, "medium": 0, "minor": 0, "tests": COUNTS, "issues": [ONE]})
Tests = Callable[[int, str], TestResults]


def ran(tip: str, **results: str) -> TestResults:
    values = [*results.values()]
    passed, failed, skipped = (values.count(word) for word in ("passed", "failed", "skipped"))
    return TestResults(
        passed + failed,
        passed,
        failed,
        "output",
        tip,
        exit_code=int(failed > 0),
        command="python3 -m pytest -q",
        skipped=skipped,
        outcome="failed" if failed else "passed",
        failures=tuple(name for name, result in results.items() if result == "failed"),
        results=results,
    )


def lacking(tip: str) -> TestResults:
    missing = "the Python module `pytest` (`python3 -m pytest -q`)"
    none = TestResults(0, 0, 0, "No module named pytest", tip, 1, "python3 -m pytest -q")
    return replace(none, outcome="cannot run", missing=missing, lacks_runner=True)


def delivered(
    place: Path, agents: ScriptedAgents, *answers: Decision, dying: bool = False
) -> tuple[Project, Record, ScriptedAgents]:
    project = Workspace(place).create("Durations", agent="scripted", now=datetime(2026, 1, 1, tzinfo=UTC))
    files = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}
    at_phase(project, Phase.BUILDING, files, kind="code")
    record = Record(answers=[answer.to_text() for answer in answers])
    asyncio.run(live(journeys(project, agents, Outside()), deliver, record, dying=dying))
    return Project.at(project.directory), record, agents


def scripted(tests: Tests, review: str = EMPTY, **options: Any) -> ScriptedAgents:
    return ScriptedAgents(answers=lambda _: review, tests=lambda n, tip: proven(tests(n, tip)), **options)


def proven(run: TestResults) -> TestResults:
    """With a test for each criterion, after the run before the work."""
    if run.commit == "c0" or not run.results:
        return run
    added = {f"test_criterion_{n}": "passed" for n in range(1, 6)}
    many = len(added)
    return replace(run, total=run.total + many, passed=run.passed + many, results={**run.results, **added})


def lines_of(project: Project, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.directory / name).read_text().splitlines()]


@pytest.mark.parametrize("dying", [False, True])
def test_a_missing_runner_asks_at_once_and_makes_no_turn(tmp_path: Path, *, dying: bool) -> None:
    project, record, agents = delivered(tmp_path, scripted(lambda _, tip: lacking(tip)), dying=dying)
    assert (project.status().phase, project.status().halt_reason) == (Phase.HALTED, "tests_cannot_run")
    [(_, asked)] = record.questions
    assert asked.startswith("The tests cannot run: the Python module `pytest` (`python3 -m pytest -q`). Supply it")
    assert agents.worked == []


def test_a_retry_runs_the_tests_again_and_a_command_is_kept(tmp_path: Path) -> None:
    tests = lambda n, tip: lacking(tip) if n <= 2 else ran(tip, a="passed")  # noqa: E731
    decisions = Decision("resume"), Decision("input", "python3 -m unittest")
    project, record, _ = delivered(tmp_path, scripted(tests), *decisions)
    assert project.status().phase is Phase.DONE
    assert len(record.questions) == 2
    assert project.info().test_command == "python3 -m unittest"


@pytest.mark.parametrize("dying", [False, True])
def test_going_on_without_tests_never_ends_as_plainly_done(tmp_path: Path, *, dying: bool) -> None:
    agents = scripted(lambda _, tip: lacking(tip))
    project, record, _ = delivered(tmp_path, agents, Decision("override"), dying=dying)
    assert len(record.questions) == 1
    assert project.status().phase is Phase.DONE
    assert project.info().tests_unproven
    assert project.chat()[-1].content.startswith("Done, tests unproven, after 1 round")
    assert lines_of(project, "polish_rounds.jsonl")[-1]["evidence"]["passes"] is False


@pytest.mark.parametrize("dying", [False, True])
def test_a_known_failure_is_named_and_does_not_count(tmp_path: Path, *, dying: bool) -> None:
    added = {"new": "passed"}
    agents = scripted(lambda n, tip: ran(tip, old="failed", kept="passed", **(added if n > 1 else {})))
    project, record, agents = delivered(tmp_path, agents, dying=dying)
    assert (project.status().phase, record.questions) == (Phase.DONE, [])
    said = [message.content for message in project.chat()]
    assert any("Already failing, so not counted against the work: old." in text for text in said)
    assert "failed before the work began, too: old" in said[-1]
    assert len(agents.worked) == 1


@pytest.mark.req("G-11")
def test_the_closing_words_say_how_to_merge_with_and_without_the_conversation(tmp_path: Path) -> None:
    project, _, _ = delivered(tmp_path, scripted(lambda _, tip: ran(tip, a="passed")))
    last = project.chat()[-1].content
    assert "`forge merge forge/build-x --conversation keep`" in last
    assert "`forge merge forge/build-x --conversation drop` to leave the conversation out." in last


def test_one_run_of_a_commit_is_enough(tmp_path: Path) -> None:
    project, _, agents = delivered(tmp_path, scripted(lambda _, tip: ran(tip, a="passed")))
    commits = [line["commit"] for line in lines_of(project, "test_runs.jsonl")]
    assert commits == ["c0", "c1"]
    assert agents.tested == 2


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ({"a": "passed"}, "1 test fewer than before: b"),
        ({"a": "passed", "b": "skipped", "c": "passed"}, "1 test skipped that ran before: b"),
    ],
)
@pytest.mark.parametrize("review", [EMPTY, FOUND], ids=["content", "finds"])
def test_deleted_and_skipped_tests_stop_within_three_rounds(
    tmp_path: Path, now: dict[str, str], reason: str, review: str
) -> None:
    agents = scripted(lambda n, tip: ran(tip, **(now if n > 1 else {"a": "passed", "b": "passed"})), review)
    project, record, _ = delivered(tmp_path, agents)
    assert project.status().halt_reason == "guard_tests"
    [(_, asked)] = record.questions
    assert f"{reason}. If that is right, accept the tests" in asked
    rounds = lines_of(project, "polish_rounds.jsonl")
    assert len(rounds) == (2 if review == EMPTY else 3)
    assert any(f"Round 1 is not accepted: {reason}." in message.content for message in project.chat())


def without(run: TestResults, *criteria: int) -> TestResults:
    """With the tests of these criteria renamed: their number is the same."""
    gone = {f"test_criterion_{n}": f"test_renamed_{n}" for n in criteria}
    return replace(run, results={gone.get(name, name): result for name, result in run.results.items()})


@pytest.mark.parametrize("dying", [False, True])
def test_a_criterion_whose_test_is_renamed_while_polishing_is_not_done(tmp_path: Path, *, dying: bool) -> None:
    def tests(n: int, tip: str) -> TestResults:
        made = proven(ran(tip, a="passed"))
        return made if tip in {"c0", "c1"} else without(made, 2, 4)

    reviews = iter([FOUND] + [EMPTY] * 9)
    said: dict[int, str] = {}
    agents = ScriptedAgents(answers=lambda task: said.setdefault(task.nth, next(reviews)), tests=tests)
    project, record, agents = delivered(tmp_path, agents, dying=dying)
    reason = "No passing test is named after criteria 2, 4 of 5."
    assert project.status().phase is Phase.HALTED
    assert f"{reason} If that is right, accept the tests" in record.questions[0][1]
    assert any(reason in order.message and "2. It does 2.\n4. It does 4." in order.message for order in agents.orders)
    assert catalog.accept_tests(project)["total"] == 6
    record.answers.append(Decision("resume").to_text())
    asyncio.run(live(journeys(project, agents, Outside()), deliver, record, dying=False))
    assert Project.at(project.directory).status().phase is Phase.DONE


def test_weakened_tests_are_not_accepted(tmp_path: Path) -> None:
    def tests(n: int, tip: str) -> TestResults:
        return replace(ran(tip, a="passed"), weakened=("tests/test_a.py (3 → 1)",) if n > 1 else ())

    project, record, _ = delivered(tmp_path, scripted(tests))
    assert project.status().halt_reason == "guard_tests"
    assert "Fewer assertions than before in tests/test_a.py (3 → 1)." in record.questions[0][1]


def test_a_round_that_changes_no_file_ends_the_loop(tmp_path: Path) -> None:
    def works(n: int) -> Worked:
        return Worked(success=True, text="fine", commit=f"c{n}", files=("a.py",) if n == 1 else ())

    project, record, _ = delivered(tmp_path, scripted(lambda _, tip: ran(tip, a="passed"), FOUND, works=works))
    assert project.status().halt_reason == "guard_no_change"
    assert record.questions[0][1].startswith("The agent changed no file. Round 1 found 1 critical")


def test_a_task_without_changes_is_reminded_once_and_then_stuck(tmp_path: Path) -> None:
    idle = lambda n: Worked(success=True, text="It is all there.", commit=f"c{n}")  # noqa: E731
    project, record, agents = delivered(tmp_path, scripted(lambda _, tip: ran(tip, a="passed"), works=idle))
    assert project.status().phase is Phase.BUILDING
    assert "changed no file, although it was reminded: It is all there." in record.questions[0][1]
    assert len(agents.worked) == 2


@pytest.mark.parametrize("dying", [False, True])
def test_a_decision_is_asked_once_and_goes_on_at_its_task_whichever_step_the_process_dies_in(
    tmp_path: Path, *, dying: bool
) -> None:
    asked = DecisionRequest("Red or blue?", ("red", "blue"), "I tried both.")

    def works(n: int) -> Worked:
        return Worked(success=True, text="fine", commit=f"c{n}", files=("a.py",), decision=asked if n == 1 else None)

    agents = scripted(lambda n, tip: ran(tip, a="passed"), works=works)
    project, record, agents = delivered(tmp_path, agents, Decision("input", "blue"), dying=dying)
    assert [text for _, text in record.questions] == ["Task `parse` (“Parse”): Red or blue?"]
    assert project.status().phase is Phase.DONE
    assert len(agents.worked) == 2
    [given] = project.info().inputs
    assert given == {"question": "Task `parse` (“Parse”): Red or blue?", "answer": "blue"}


def test_what_is_asked_is_kept_in_the_project_with_its_tests(tmp_path: Path) -> None:
    asked = DecisionRequest("Is it?", ("yes",), "It contradicts the specification.")
    turns = lambda n: Worked(success=True, text="", commit=f"c{n}", files=("a",), decision=asked if n > 1 else None)  # noqa: E731
    tests = lambda n, tip: ran(tip, a="passed", **({"b": "failed"} if n > 1 else {}))  # noqa: E731
    project, _, _ = delivered(tmp_path, scripted(tests, works=turns))
    waiting = project.info().waiting
    assert waiting is not None
    assert (waiting.cause, waiting.options, waiting.tests) == ("decision", ("yes",), ("b",))
    assert waiting.explanation == "It contradicts the specification."
    assert (
        "Tests: b.\n\nThe agent says: It contradicts the specification.\n\nOptions:\n1. yes"
        in project.chat()[-1].content
    )


def test_a_failure_that_was_not_there_before_counts(tmp_path: Path) -> None:
    agents = scripted(lambda n, tip: ran(tip, old="failed", kept="passed" if n == 1 else "failed"))
    project, record, agents = delivered(tmp_path, agents)
    assert project.status().phase is Phase.BUILDING
    assert "the tests failed 3 times in the same way" in record.questions[0][1]


def test_a_person_who_accepts_fewer_tests_ends_it_with_a_retry(tmp_path: Path) -> None:
    agents = scripted(lambda n, tip: ran(tip, **({"a": "passed"} if n > 1 else {"a": "passed", "b": "passed"})))
    project, record, agents = delivered(tmp_path, agents)
    assert catalog.accept_tests(project)["total"] == 6
    record.answers.append(Decision("resume").to_text())
    asyncio.run(live(journeys(project, agents, Outside()), deliver, record, dying=False))
    assert Project.at(project.directory).status().phase is Phase.DONE


def test_a_run_that_an_older_version_began_goes_on_without_a_baseline(tmp_path: Path) -> None:
    agents = scripted(lambda _, tip: TestResults(3, 3, 0, "ok", tip))
    project = Workspace(tmp_path).create("Durations", agent="scripted", now=datetime(2026, 1, 1, tzinfo=UTC))
    files = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}
    at_phase(project, Phase.BUILDING, files, kind="code")
    record = Record()
    record.steps["run-1/2/branch"] = json.dumps({"baseline": "c0", "tip": "c0"})
    asyncio.run(live(journeys(project, agents, Outside()), deliver, record, dying=False))
    assert Project.at(project.directory).status().phase is Phase.DONE
    assert not any("before the work" in step for step in record.steps)
