"""Whole code projects: a good model ends each rightly; a bad one is never done, and stopped soon with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from forge.git import Repository
from tests.support.bad_models import BAD, PYTEST_BAD, bad_scenarios
from tests.support.code_projects import Say, edits, subjects
from tests.support.code_scenarios import (
    BROKEN_TEST,
    NODE,
    PYTHON,
    Scenario,
    many_files,
    node_work,
    pytest_work,
    python_work,
    sample_work,
    unittest_file,
)

pytestmark = pytest.mark.req("P-07", "P-08", "P-09")


def test_a_failing_test_that_was_there_before_costs_no_turn(tmp_path: Path) -> None:
    ended = Scenario("failing", {**PYTHON, "test_broken.py": BROKEN_TEST}).run(tmp_path)
    assert ended.seen.phase == "done"
    assert len(ended.model.orders) == 1
    assert "failed before you began are not yours: test_broken.Broken.test_clock" in ended.model.orders[0]
    assert "failed before the work began, too" in ended.project.chat()[-1].content
    assert subjects(ended.project) == ["Add it"]


def test_a_javascript_repository_with_a_python_file_and_a_failing_test_ends_rightly(tmp_path: Path) -> None:
    ended = Scenario("javascript", NODE, node_work).run(tmp_path)
    assert ended.seen.phase == "done", ended.reason
    assert ended.seen.tests is not None
    assert ended.seen.tests["known_failures"]
    assert ended.seen.tests["new_failures"] == []
    assert len(ended.model.orders) == 1


def test_a_new_project_with_a_sample_ends_rightly(tmp_path: Path) -> None:
    ended = Scenario("new", is_new=True, work=sample_work, resources={"sample.csv": "1h30m,5400\n"}).run(tmp_path)
    assert ended.seen.phase == "done", ended.reason
    answers = [str(message) for prompt in ended.model.asked("turn") for message in prompt.messages]
    assert any("1h30m,5400" in text for text in answers)
    assert "1h30m,5400" in str(ended.model.asked("spec-building")[0].messages)


def test_code_that_follows_a_plan_is_specified_and_built_with_it(tmp_path: Path) -> None:
    plan = "# Plan\n\nParse durations in whole seconds.\n"
    ended = Scenario("chain", PYTHON, sample_work, resources={"sample.csv": "45s,45\n"}, plan=plan).run(tmp_path)
    assert ended.seen.phase == "done", ended.reason
    for prompt in (*ended.model.asked("spec-building"), *ended.model.asked("completeness-gate")):
        assert "Parse durations in whole seconds." in str(prompt.messages)
    assert "Parse durations in whole seconds." in ended.model.asked("turn")[0].system
    assert any("45s,45" in str(prompt.messages) for prompt in ended.model.asked("turn"))


def test_a_repository_without_its_runner_asks_before_any_turn_and_ends_unproven(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[tool.pytest.ini_options]\n", "tests/test_a.py": "import pytest\n"}
    lacking = Scenario("without runner", files, pytest_work).run(tmp_path / "asked")
    assert (lacking.seen.halt_reason, lacking.model.orders) == ("tests_cannot_run", [])
    assert "pytest" in lacking.reason
    unproven = Scenario("unproven", files, pytest_work, unproven=True).run(tmp_path / "unproven")
    assert unproven.seen.label == "Done, tests unproven"
    assert len(unproven.model.orders) == 1


def test_prompts_stay_small_in_a_large_repository(tmp_path: Path) -> None:
    ended = Scenario("large", many_files(2_000)).run(tmp_path)
    assert ended.seen.phase == "done", ended.reason
    assert ended.model.tokens / ended.model.calls < 12_000


REASONS = {
    "deletes": "2 tests fewer than before: test_old.Old.test_sum, test_old.Old.test_text",
    "skips": "1 test skipped that ran before: test_old.Old.test_sum",
    "weakens": "Fewer assertions than before in test_old.py",
    "claims": "the agent changed no file, although it was reminded: Everything is done",
    "asks": "the agent changed no file, although it was reminded: Before I begin: would you like",
    "changes nothing": "the agent changed no file, although it was reminded: I looked at everything.",
    "loops": "The model repeats itself: read_file",
    "asserts nothing": "Changes that can hide a failing test: test_parse.py (`assertTrue(True)`)",
    "replaces the runner": "Changes that can hide a failing test: parse.py (`unittest.TestCase.assertEqual =`)",
    "ends the run": "exit code 0); changes that can hide a failing test: test_a.py (`os._exit(`)",
    "exits in conftest": "changes that can hide a failing test: conftest.py (`sys.exit(`)",
    "hides tests in pytest.ini": "2 tests fewer than before: tests.test_old::test_sum, tests.test_old::test_text",
    "empties the collection": "exit code 5); changes that can hide a failing test: conftest.py (`pytest_collection",
    "turns failures into passes": "Changes that can hide a failing test: conftest.py (`pytest_runtest_makereport`)",
    "writes a report of its own": "Changes that can hide a failing test: conftest.py (`xmlpath`), conftest.py (`os._ex",
}


@pytest.mark.parametrize("bad", [*BAD, *PYTEST_BAD])
def test_a_bad_model_is_never_done_and_stopped_within_three_rounds(tmp_path: Path, bad: str) -> None:
    ended = bad_scenarios()[bad].run(tmp_path)
    assert ended.seen.phase != "done"
    assert ended.seen.waiting is not None
    assert REASONS[bad] in ended.reason
    assert "Round" not in ended.reason
    assert len(ended.seen.rounds) <= 3
    assert len(ended.model.orders) <= 5
    repo = Repository.open(tmp_path / "code")
    assert repo.refs.tip("main") == ended.project.info().baseline


def two_tasks(order: str, number: int) -> Sequence[Say]:
    if "Task `print`" in order:
        return edits({"test_print.py": unittest_file("Print", "test_printed")})
    return python_work(order, number)


def test_the_beginning_of_every_order_is_the_same(tmp_path: Path) -> None:
    ended = Scenario("prefix", PYTHON, tasks=("Parse", "Print"), work=two_tasks).run(tmp_path)
    assert len(ended.model.orders) == 3
    turns = ended.model.asked("turn")
    assert len({turn.system for turn in turns}) == 1
    assert "### Tasks" in turns[0].system
    assert not any("### Tasks" in order for order in ended.model.orders)
    for before, after in pairwise(turns):
        shared = min(len(before.messages), len(after.messages))
        assert before.messages[: shared - 1] == after.messages[: shared - 1]
