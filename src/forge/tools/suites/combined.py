"""All suites of a repository, run one after the other, and what they came to together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forge.tools.suites.cases import Case, Result, Results
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Outcome, TestRun, after_second_run, gravest, merged
from forge.tools.suites.selection import failed_again, selected
from forge.tools.suites.suite import Suite
from forge.tools.suites.text import Counts

_FEW = 10
"""So many failures look like chance; more are a broken change."""
_QUICK = 60.0
"""Seconds that the failed tests took together; what takes longer is not run twice."""
RunLine = Callable[[str], tuple[int, str]]
"""Runs a shell line; gives its exit code and what it printed."""


@dataclass(frozen=True, slots=True)
class CombinedRun:
    runs: tuple[TestRun, ...]
    printed: tuple[str, ...]
    """What each runner printed for people."""

    @property
    def outcome(self) -> Outcome:
        return gravest(run.outcome for run in self.runs)

    @property
    def command(self) -> str:
        return "; ".join(run.command for run in self.runs)

    @property
    def exit_code(self) -> int:
        """Of the first suite that does not pass. A suite without tests does not fail beside one that has some."""
        has_tests = self.outcome is not Outcome.NO_TESTS
        codes = (run.exit_code for run in self.runs if not has_tests or run.outcome is not Outcome.NO_TESTS)
        return next((code for code in codes if code), 0)

    @property
    def counts(self) -> Counts:
        numbers = [run.counts for run in self.runs]
        return Counts(
            sum(each.passed for each in numbers),
            sum(each.failed for each in numbers),
            sum(each.skipped for each in numbers),
        )

    @property
    def results(self) -> Results:
        return merged(self.runs)

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(each for run in self.runs for each in run.cases)

    @property
    def flaky(self) -> tuple[str, ...]:
        return tuple(name for run in self.runs for name in run.flaky)

    @property
    def broken(self) -> tuple[str, ...]:
        return tuple(name for run in self.runs for name in run.broken)

    @property
    def missing(self) -> str:
        """What the suites that cannot run need, each with its command."""
        return "; ".join(f"{run.missing} (`{run.command}`)" for run in self.runs if run.missing)

    @property
    def lacks_runner(self) -> bool:
        return any(run.lacks_runner for run in self.runs)

    @property
    def output(self) -> str:
        if len(self.runs) == 1:
            return self.printed[0]
        return "\n".join(f"$ {run.command}\n{text}" for run, text in zip(self.runs, self.printed, strict=True))


def run_all(
    found: Sequence[Suite],
    run_line: RunLine,
    arguments: Sequence[str] = (),
    *,
    pattern: str = "",
    again: bool = False,
) -> CombinedRun:
    """`pattern` selects tests in the way of each runner.

    With `again`, a few failures of a suite are run a second time, to tell flaky tests from broken ones.
    """
    runs: list[TestRun] = []
    printed: list[str] = []
    for suite in found:
        line = suite_line(suite, [*arguments, *selected(suite, pattern)])
        run, text = line.read(*run_line(line.text))
        words = _second_words(suite, run) if again else None
        if words is not None:
            line = suite_line(suite, words)
            second, said = line.read(*run_line(line.text))
            run = after_second_run(run, second)
            text = f"{text}\n$ {suite.command} (the failed tests, run again)\n{said}"
        runs.append(run)
        printed.append(text)
    return CombinedRun(tuple(runs), tuple(printed))


def _second_words(suite: Suite, run: TestRun) -> tuple[str, ...] | None:
    failed = [each for each in run.cases if each.result is Result.FAILED]
    if run.outcome is not Outcome.FAILED or not 0 < len(failed) <= _FEW:
        return None
    if sum(each.seconds or 0 for each in failed) > _QUICK:
        return None
    return failed_again(suite, failed)
