"""Whether tests pass is told from recorded runs of this commit, and no test goes missing unnoticed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.pipeline import evidence
from forge.pipeline.evidence import Evidence
from forge.plugins.roles import TestResults
from forge.projects.info import Acknowledgement

pytestmark = pytest.mark.req("P-09", "P-10")

HERE, ELSEWHERE = "a" * 40, "b" * 40


def run(total: int = 5, failed: int = 0, commit: str | None = HERE, exit_code: int = 0, **other: Any) -> dict[str, Any]:
    return {
        "commit": commit,
        "total": total,
        "passed": total - failed,
        "failed": failed,
        "exit_code": exit_code,
        **other,
    }


def test_a_green_run_of_this_commit_passes() -> None:
    assert evidence.tests_pass([run()], HERE) == Evidence(passes=True, reason="All 5 tests pass on aaaaaaaaaaaa.")


@pytest.mark.parametrize(
    ("runs", "commit", "reason"),
    [
        ([], HERE, "No run"),
        ([run()], None, "no commit"),
        ([run()], "", "no commit"),
        ([run(commit=ELSEWHERE)], HERE, "of bbbbbbbbbbbb, not of aaaaaaaaaaaa"),
        ([run(commit=None)], HERE, "of no commit"),
        ([run(failed=2)], HERE, "2 of 5 tests fail"),
        ([run(exit_code=139)], HERE, "exit code 139"),
        ([run(total=0)], HERE, "found no tests"),
        ([run(passed=4)], HERE, "Only 4 of 5"),
        ([run(), run(commit=ELSEWHERE)], HERE, "not of"),
        ([run(), run(failed=1)], HERE, "1 of 5 tests fail"),
        ([run(9), run(8)], HERE, "Only 8 tests ran where there were 9"),
        ([run(9, failed=3, commit=ELSEWHERE), run(8)], HERE, "Only 8 tests ran where there were 9"),
        ([run(), {}], HERE, "incomplete"),
        ([run(total=True)], HERE, "incomplete"),
        ([run(exit_code=None)], HERE, "incomplete"),
    ],
)
def test_anything_less_does_not_pass_and_says_why(runs: list[dict[str, Any]], commit: str | None, reason: str) -> None:
    found = evidence.tests_pass(runs, commit)
    assert not found.passes
    assert reason in found.reason


def test_results_count_as_well_as_their_records() -> None:
    assert evidence.tests_pass([run(3), TestResults(4, 4, 0, "", HERE)], HERE).passes
    assert not evidence.tests_pass([TestResults(4, 4, 0, "", HERE), run(3)], HERE).passes


def test_a_person_may_accept_fewer_tests_once() -> None:
    runs = [run(10), run(8)]
    accepted = Acknowledgement(total=8, runs=2)
    assert not evidence.tests_pass(runs, HERE).passes
    assert evidence.tests_pass(runs, HERE, acknowledged=accepted).passes
    assert not evidence.tests_pass([*runs, run(7)], HERE, acknowledged=accepted).passes
    assert not evidence.tests_pass([*runs, run(12), run(9)], HERE, acknowledged=accepted).passes
    assert evidence.tests_pass([*runs, run(12), run(9)], HERE, acknowledged=Acknowledgement(total=9, runs=4)).passes


records = st.builds(
    run,
    total=st.integers(0, 5),
    failed=st.integers(0, 2),
    commit=st.sampled_from([HERE, ELSEWHERE, None]),
    exit_code=st.sampled_from([0, 0, 0, 1]),
)


@given(st.lists(records, max_size=6))
def test_what_passes_is_green_of_this_commit_and_has_the_most_tests_so_far(runs: list[dict[str, Any]]) -> None:
    last = runs[-1] if runs else {}
    green = last.get("commit") == HERE and last["exit_code"] == 0 and last["failed"] == 0 and last["total"] > 0
    assert evidence.tests_pass(runs, HERE).passes == (green and last["total"] == max(r["total"] for r in runs))


@given(st.lists(records, min_size=1, max_size=6), records)
def test_earlier_runs_can_only_take_away(runs: list[dict[str, Any]], earlier: dict[str, Any]) -> None:
    if evidence.tests_pass([earlier, *runs], HERE).passes:
        assert evidence.tests_pass(runs, HERE).passes
