"""All suites of a repository, run one after the other, and what they came to together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forge.tools.suites.discovery import Suite
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Outcome, TestRun, merged
from forge.tools.suites.reports import Results
from forge.tools.suites.text import Counts

_GRAVEST = (Outcome.CANNOT_RUN, Outcome.FAILED, Outcome.PASSED, Outcome.NO_TESTS)

RunLine = Callable[[str], tuple[int, str]]
"""Runs a shell line; gives its exit code and what it printed."""


@dataclass(frozen=True, slots=True)
class CombinedRun:
    runs: tuple[TestRun, ...]
    printed: tuple[str, ...]
    """What each runner printed for people."""

    @property
    def outcome(self) -> Outcome:
        """The gravest: one suite that passes hides no other."""
        found = {run.outcome for run in self.runs}
        return next((outcome for outcome in _GRAVEST if outcome in found), Outcome.NO_TESTS)

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


def run_all(found: Sequence[Suite], run_line: RunLine, arguments: Sequence[str] = ()) -> CombinedRun:
    runs: list[TestRun] = []
    printed: list[str] = []
    for suite in found:
        line = suite_line(suite, arguments)
        run, text = line.read(*run_line(line.text))
        runs.append(run)
        printed.append(text)
    return CombinedRun(tuple(runs), tuple(printed))
