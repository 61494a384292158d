"""`(tests)` needs new passing tests, and each criterion a passing test with its number, by the runner's own list."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from forge.agents.decision_request import DecisionRequest
from forge.deliverables.code.build import AGAIN, WITHOUT, build
from forge.deliverables.code.tasks import ACCEPTANCE, BuildTask, queue, turns
from forge.deliverables.code.test_proof import lack_of, new_passing, untested
from forge.plugins.roles import StuckCause, TestResults, Worked
from tests.deliverables.desks import DONE, ScriptedDesk

pytestmark = pytest.mark.req("P-07")
SPEC = "## Tasks\n\n1. Parse (tests)\n"
TWO = "## Tasks\n\n1. Parse (tests)\n2. Print (tests)\n"
CONSTRAINTS = "## Acceptance Criteria\n\n1. Reads hours\n2. Reads minutes\n3. Refuses the rest\n"
CRITERIA = ("Reads hours", "Reads minutes", "Refuses the rest")


def run(**results: str) -> TestResults:
    passed, failed = ([*results.values()].count(word) for word in ("passed", "failed"))
    failures = tuple(name for name, result in results.items() if result == "failed")
    outcome = "failed" if failed else "passed"
    return TestResults(
        passed + failed, passed, failed, "", "c", failed, "t", outcome=outcome, failures=failures, results=results
    )


@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        (run(a="passed"), run(a="passed"), 0),
        (run(a="passed"), run(a="passed", b="passed"), 1),
        (run(a="passed"), run(a="passed", b="failed"), 0),
        (run(a="passed"), run(a="passed", b="skipped"), 0),
        (run(a="failed"), run(a="passed"), 1),
        (run(), run(a="passed"), 1),
        (run(a="passed", b="passed"), run(b="passed", c="passed"), 1),
        (TestResults(3, 3, 0, ""), TestResults(3, 3, 0, ""), 0),
        (TestResults(3, 3, 0, ""), TestResults(5, 4, 1, ""), 1),
        (TestResults(3, 3, 0, ""), run(a="passed"), 0),
    ],
)
def test_a_test_is_new_where_it_passes_and_did_not_before(before: TestResults, now: TestResults, new: int) -> None:
    assert new_passing(before, now) == new


@pytest.mark.parametrize(
    "name",
    [
        "test_criterion_3_refuses",
        "tests.test_x.Criterion3",
        "TestCriterion03",
        "criterion 3: refuses the rest",
        "Acceptance > criterion #3",
        "CRITERION-3",
    ],
)
def test_a_name_with_the_number_of_the_criterion_proves_it(name: str) -> None:
    others = {"criterion 1": "passed", "criterion_2": "passed"}
    assert untested(CRITERIA, run(**others, **{name: "passed"}).results) == ()
    assert untested(CRITERIA, run(**others, **{name: "failed"}).results) == (3,)
    assert untested(CRITERIA, run(**others, **{name: "skipped"}).results) == (3,)


def test_a_longer_number_is_another_criterion() -> None:
    assert untested(CRITERIA, run(test_criterion_10="passed", criterion_33="passed").results) == (1, 2, 3)


def test_what_is_missing_is_named_with_the_words_of_the_criterion() -> None:
    task = BuildTask(ACCEPTANCE, "Write them", tests=True)
    lack = lack_of(task, CRITERIA, None, run(test_criterion_2="passed"))
    assert lack is not None
    assert (lack.reason, lack.criteria) == ("no passing test is named after criteria 1, 3 of 3", (1, 3))
    assert "1. Reads hours\n3. Refuses the rest" in lack.order


def test_a_task_that_needs_no_tests_and_a_run_of_an_older_version_lack_nothing() -> None:
    assert lack_of(BuildTask("a", "A"), (), run(a="passed"), run(a="passed")) is None
    assert lack_of(BuildTask("a", "A", tests=True), (), None, run(a="passed")) is None


BEFORE = run(old="passed")
PARSED = run(old="passed", parse="passed")
ALL = run(old="passed", parse="passed", **{f"criterion {n}": "passed" for n in (1, 2, 3)})


def desk(*tests: TestResults, **options: object) -> ScriptedDesk:
    made = ScriptedDesk(spec=str(options.pop("spec", SPEC)), constraints=CONSTRAINTS, tests=tests, **options)  # type: ignore[arg-type]
    made.baseline_tests = BEFORE
    return made


def test_a_task_without_new_tests_is_sent_back_twice_and_then_asked_about() -> None:
    idle = desk(BEFORE, spec=TWO, turns=(replace(DONE, text="It has tests already."),))
    result = asyncio.run(build(idle))
    assert (result.stuck, len(idle.worked)) == (True, 3)
    assert result.reason == "Task `parse` (“Parse”): it brought no new test that passes"
    assert result.needs is not None
    assert (result.needs.cause, result.needs.options) == (StuckCause.TESTS, (WITHOUT, AGAIN))
    assert result.needs.explanation == "It has tests already."
    assert "none of them is new" in idle.worked[1][2]
    assert "Never delete, skip or weaken a test" in idle.worked[1][2]


def test_missing_criteria_are_named_in_the_order_and_their_tests_end_it() -> None:
    partly = run(old="passed", parse="passed", criterion_1="passed")
    worker = desk(PARSED, partly, ALL)
    assert not asyncio.run(build(worker)).stuck
    prompt, task, order = worker.worked[2]
    assert (prompt, task) == ("code-build", "parse")
    assert order.startswith("Task `parse`: Parse\nTask `acceptance-tests`: ")
    assert "2. Reads minutes\n3. Refuses the rest" in order


def test_a_person_may_go_on_without_them() -> None:
    printed = run(old="passed", parse="passed", print="passed")
    first = desk(PARSED, printed, printed, spec=TWO)
    asked = asyncio.run(build(first)).reason
    assert asked.startswith("Task `acceptance-tests`")
    second = desk(printed, spec=TWO, answers=({"question": asked, "answer": WITHOUT},))
    assert not asyncio.run(build(second)).stuck
    assert second.worked == []


def test_an_agent_that_asks_while_it_writes_them_is_heard() -> None:

    asks = Worked(success=True, text="", files=("a",), decision=DecisionRequest("Which?"))
    result = asyncio.run(build(desk(BEFORE, turns=(DONE, asks))))
    assert result.needs is not None
    assert (result.needs.cause, result.needs.question) == (StuckCause.DECISION, "Which?")


def test_whoever_requires_no_tests_is_asked_for_none() -> None:
    free = desk(BEFORE, thresholds={"plan_min_chars": 100, "code_require_tests": False})
    assert not asyncio.run(build(free)).stuck


def test_small_tasks_share_a_turn_and_the_acceptance_tests_go_with_the_last_of_them() -> None:
    spec = (
        "## Tasks\n\n1. Read\n2. Parse (small) (tests)\n3. Print (tests) (small)\n4. Help (small)\n5. Colours (small)\n"
    )
    assert [each.ids for each in turns(queue(spec, CONSTRAINTS))] == [
        ("read",),
        ("parse", "print", "help"),
        ("colours", ACCEPTANCE),
    ]
    large = "## Tasks\n\n1. Read (tests)\n2. Parse\n"
    assert [each.ids for each in turns(queue(large, CONSTRAINTS))] == [("read",), ("parse",), (ACCEPTANCE,)]
    assert [each.ids for each in turns(queue(SPEC, CONSTRAINTS))] == [("parse", ACCEPTANCE)]
    assert [each.ids for each in turns(queue("", CONSTRAINTS))] == [("build-it",), (ACCEPTANCE,)]


def test_tasks_in_one_turn_each_need_a_new_test() -> None:
    spec = "## Tasks\n\n1. Parse (tests) (small)\n2. Print (tests) (small)\n3. Rest (tests)\n"
    both = run(old="passed", parse="passed", print="passed")
    worker = desk(PARSED, both, replace(ALL, results={**ALL.results, **both.results}), spec=spec)
    asyncio.run(build(worker))
    assert worker.worked[0][2].startswith("Task `parse`: Parse\n\nWrite its unit tests")
    assert "Task `print`: Print" in worker.worked[0][2]
    assert "Only 1 passing test is new, for 2 tasks." in worker.worked[1][2]
    assert worker.worked[2][1] == "rest"
