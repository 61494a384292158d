"""Whether the tests pass, told from the recorded runs alone and never from what an agent says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forge.counts import counted
from forge.plugins.contracts import TestResults
from forge.projects.info import Acknowledgement

Record = Mapping[str, Any] | TestResults
"""One line of `test_runs.jsonl`, or the results of which it is made."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """`reason` is one sentence with the figures that decided it."""

    passes: bool
    reason: str


def tests_pass(runs: Sequence[Record], commit: str | None, *, acknowledged: Acknowledgement | None = None) -> Evidence:  # noqa: PT028 - no test, only its name begins like one
    """The last run decides: it must be of `commit`, and green, and no test may have gone missing on the way there."""
    if not runs:
        return Evidence(passes=False, reason="No run of the tests is recorded.")
    if not commit:
        return Evidence(passes=False, reason="There is no commit that tests could have run on.")
    last = _figures(runs[-1])
    if last is None:
        return Evidence(passes=False, reason="The record of the last test run is incomplete.")
    if last.commit != commit:
        where = last.commit[:12] if last.commit else "no commit"
        return Evidence(passes=False, reason=f"The last test run is of {where}, not of {commit[:12]}.")
    if not last.all_pass:
        return Evidence(passes=False, reason=_shortfall(last))
    floor = _floor(runs[:-1], acknowledged)
    if last.total < floor:
        return Evidence(passes=False, reason=f"Only {counted(last.total, 'test')} ran where there were {floor} before.")
    return Evidence(passes=True, reason=f"{_all_pass(last.total)} on {commit[:12]}.")


def _all_pass(total: int) -> str:
    return "The only test passes" if total == 1 else f"All {total} tests pass"


def _floor(earlier: Sequence[Record], acknowledged: Acknowledgement | None) -> int:
    """How many tests there have to be. What a person acknowledged sets it anew; later runs can only raise it."""
    start = acknowledged.total if acknowledged else 0
    since = earlier[acknowledged.runs :] if acknowledged else earlier
    return max([start, *(figures.total for run in since if (figures := _figures(run)))])


def _figures(run: Record) -> TestResults | None:
    if isinstance(run, TestResults):
        return run
    numbers = [run.get(key) for key in ("total", "passed", "failed", "exit_code")]
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        return None
    commit = run.get("commit")
    total, passed, failed, exit_code = (int(number or 0) for number in numbers)
    return TestResults(total, passed, failed, "", commit if isinstance(commit, str) else None, exit_code)


def _shortfall(run: TestResults) -> str:
    if run.failed > 0:
        return f"{run.failed} of {counted(run.total, 'test')} {'fails' if run.failed == 1 else 'fail'}."
    if run.total <= 0:
        return "The last run found no tests."
    if run.exit_code != 0:
        return f"The test command ended with exit code {run.exit_code}."
    return f"Only {run.passed} of {counted(run.total, 'test')} passed; the others did not run to their end."
