"""Whether the tests pass, known from the recorded runs alone and never from what an agent says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forge.counts import counted
from forge.pipeline.suite_record import baseline_of, results_by_line
from forge.plugins.roles import TestResults
from forge.tools.suites.cases import Result
from forge.tools.suites.outcome import compared, named_few

if TYPE_CHECKING:
    from forge.projects.info import Acknowledgement

Record = Mapping[str, Any] | TestResults
"""One line of `test_runs.jsonl`, or the results of which it is made."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """`reason` is one sentence with the figures that decided it."""

    passes: bool
    reason: str
    unproven: bool = False
    """The tests cannot run, and a person decided to continue without them."""
    acceptable: bool = False
    """Nothing fails; only tests are missing. A person may accept that."""


def tests_pass(
    runs: Sequence[Record],
    commit: str | None,
    *,
    acknowledged: Acknowledgement | None = None,  # noqa: PT028 - no test, only its name begins like one
    unproven: bool = False,  # noqa: PT028
) -> Evidence:
    """The last run decides: it must be of `commit`, nothing may fail that passed before the work began, and no test may
    have gone missing on the way there.
    """
    if not runs:
        return Evidence(passes=False, reason="No run of the tests is recorded.")
    if not commit:
        return Evidence(passes=False, reason="There is no commit that tests could have run on.")
    told = _results(runs)
    last = _figures(runs[-1])
    if last is None:
        return Evidence(passes=False, reason="The record of the last test run is incomplete.")
    if last.commit != commit:
        where = last.commit[:12] if last.commit else "no commit"
        return Evidence(passes=False, reason=f"The last test run is of {where}, not of {commit[:12]}.")
    if last.cannot_run:
        return Evidence(passes=False, reason=f"The tests cannot run: {last.missing}.", unproven=unproven)
    last = _with_known(last, told[-1], baseline_of([run for run in runs if isinstance(run, Mapping)]))
    if not last.holds:
        return Evidence(passes=False, reason=_failing(last))
    if reason := _shortfall(runs, told, last, acknowledged):
        return Evidence(passes=False, reason=f"{reason}.", acceptable=True)
    return Evidence(passes=True, reason=f"{_all_pass(last)} on {commit[:12]}{_named_known(last)}.")


def _all_pass(last: TestResults) -> str:
    if last.known:
        return f"{last.passed} of {counted(last.total, 'test')} pass"
    return "The only test passes" if last.total == 1 else f"All {last.total} tests pass"


def _named_known(last: TestResults) -> str:
    known = f"; failed before the work began, too: {named_few(last.known)}" if last.known else ""
    return known + (f"; flaky, passed when run again: {named_few(last.flaky)}" if last.flaky else "")


def _results(runs: Sequence[Record]) -> tuple[Mapping[str, str], ...]:
    """By test name, for each run."""
    by_line = iter(results_by_line([run for run in runs if isinstance(run, Mapping)]))
    return tuple(run.results if isinstance(run, TestResults) else next(by_line) for run in runs)


def _with_known(last: TestResults, told: Mapping[str, str], baseline: TestResults | None) -> TestResults:
    failures = tuple(name for name, result in told.items() if result == Result.FAILED) or last.failures
    return replace(last, failures=failures, known=known_failures(failures, baseline))


def known_failures(failures: Sequence[str], baseline: TestResults | None) -> tuple[str, ...]:
    before = set(baseline.failures) if baseline else set()
    return tuple(name for name in failures if name in before)


def _shortfall(
    runs: Sequence[Record],
    told: Sequence[Mapping[str, str]],
    last: TestResults,
    acknowledged: Acknowledgement | None,
) -> str:
    """Why fewer tests speak than before; empty where none is missing."""
    reasons = [_missing_names(runs, told, acknowledged)]
    floor = _floor(runs[:-1], acknowledged)
    if last.total < floor and not reasons[0]:
        most = next((each for run, each in zip(runs, told, strict=True) if _total(run) == floor), {})
        named = _compared(most, told[-1]) if most and told[-1] else ""
        reasons[0] = named or f"Only {counted(last.total, 'test')} ran where there were {floor} before"
    accepted = _figures(runs[acknowledged.runs - 1]) if acknowledged and acknowledged.runs <= len(runs) else None
    weaker = [each for each in last.weakened if accepted is None or each not in accepted.weakened]
    reasons.append(f"Fewer assertions than before in {named_few(weaker)}" if weaker else "")
    hiding = [each for each in last.evasions if accepted is None or each not in accepted.evasions]
    reasons.append(f"Changes that can hide a failing test: {named_few(hiding)}" if hiding else "")
    return "; ".join(filter(None, reasons))


def _missing_names(
    runs: Sequence[Record], told: Sequence[Mapping[str, str]], acknowledged: Acknowledgement | None
) -> str:
    """Against the run before the work began, or the one that a person accepted."""
    places = [place for place, run in enumerate(runs) if isinstance(run, Mapping) and run.get("baseline")]
    if acknowledged and acknowledged.runs <= len(runs):
        places = [acknowledged.runs - 1]
    return _compared(told[places[-1]], told[-1]) if places and told[-1] else ""


def _compared(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    then, after = ({name: Result(result) for name, result in each.items()} for each in (before, now))
    return compared(then, after).shortfall


def _floor(earlier: Sequence[Record], acknowledged: Acknowledgement | None) -> int:
    """How many tests there have to be. What a person acknowledged sets it anew; later runs can only raise it."""
    start = acknowledged.total if acknowledged else 0
    since = earlier[acknowledged.runs :] if acknowledged else earlier
    return max([start, *(_total(run) for run in since)])


def _total(run: Record) -> int:
    figures = _figures(run)
    return figures.total if figures else 0


def _figures(run: Record) -> TestResults | None:
    if isinstance(run, TestResults):
        return run
    numbers = [run.get(key) for key in ("total", "passed", "failed", "exit_code")]
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        return None
    commit = run.get("commit")
    told = {**run, "details": "", "results": {}, "commit": commit if isinstance(commit, str) else None}
    return TestResults.from_json(told)


def _failing(run: TestResults) -> str:
    if run.new_failures:
        beside = f" {counted(len(run.known), 'other')} failed before the work began." if run.known else ""
        names = named_few(run.new_failures)
        word = "fails" if run.failed == 1 else "fail"
        figures = f"{run.failed} of {counted(run.total, 'test')} {word}" if not run.known else ""
        fresh = counted(len(run.new_failures), "test fails that did not fail before", "tests fail that did not before")
        return f"{figures or fresh}: {names}.{beside}"
    if run.failed > 0:
        return f"{run.failed} of {counted(run.total, 'test')} {'fails' if run.failed == 1 else 'fail'}."
    if run.total <= 0:
        return "The last run found no tests."
    if run.exit_code != 0:
        return f"The test command ended with exit code {run.exit_code}."
    return f"Only {run.passed} of {counted(run.total, 'test')} passed; the others did not run to their end."
