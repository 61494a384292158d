"""What one run of a test suite came to, and how it compares with the run before the work began."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from forge.counts import counted
from forge.tools.suites.discovery import Suite
from forge.tools.suites.reports import Result, Results, results
from forge.tools.suites.text import Counts, counts

_NO_TESTS_COLLECTED = 5
"""What pytest and unittest exit with when they found nothing to run."""
_NOT_FOUND = 127
_MISSING = (
    (re.compile(r"No module named '?([\w.]+)'?"), "the Python module `{0}`"),
    (re.compile(r"(?:Cannot find (?:module|package)|Error: Cannot find module) '([^']+)'"), "the npm package `{0}`"),
    (re.compile(r"^forge: (\S+): not found", re.MULTILINE), "the program `{0}`"),
    (re.compile(r"(?:^|: )(?:\d+: )?([\w./@-]+): (?:command )?not found", re.MULTILINE), "the program `{0}`"),
    (re.compile(r"no required module provides package ([\w./-]+)"), "the Go module `{0}`"),
    (re.compile(r"no matching package named `([^`]+)` found"), "the crate `{0}`"),
)
_NO_RUNNER = re.compile(r"^\S*python[\d.]*: No module named |^forge: \S+: not found", re.MULTILINE)
"""Said by the interpreter or the sandbox, and not by a test that imports something."""
_FEW = 5


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    CANNOT_RUN = "cannot run"
    """The runner or something it needs is missing, or the suite broke before any test."""
    NO_TESTS = "no tests"


@dataclass(frozen=True, slots=True)
class TestRun:
    """One suite, run once. `results` are by the name of the test, where the runner tells them."""

    __test__ = False  # not a test class, whatever its name looks like to a test runner

    command: str
    outcome: Outcome
    exit_code: int
    counts: Counts
    results: Results = field(default_factory=dict)
    missing: str = ""
    """What has to be supplied before the suite can run, in words."""
    lacks_runner: bool = False
    """What is missing is the runner itself: no change of the code makes the suite run."""

    @property
    def failed(self) -> tuple[str, ...]:
        return tuple(name for name, result in self.results.items() if result is Result.FAILED)


def judged(suite: Suite, exit_code: int, output: str, report: str) -> TestRun:
    """The exit code decides between passed and failed; names and counts tell what ran."""
    found = results(suite.form, output, report)
    numbers = _counted(found) or counts(output) or Counts(0, 0)
    ran = numbers.passed + numbers.failed + numbers.skipped
    missing = _missing(output)
    if exit_code == 0:
        outcome = Outcome.PASSED if ran else Outcome.NO_TESTS
    elif exit_code == _NO_TESTS_COLLECTED and not ran:
        outcome = Outcome.NO_TESTS
    elif not numbers.passed and not numbers.skipped and (missing or not numbers.failed or exit_code == _NOT_FOUND):
        outcome = Outcome.CANNOT_RUN
    else:
        outcome = Outcome.FAILED
    needs = (missing or _last_line(output)) if outcome is Outcome.CANNOT_RUN else ""
    lacks_runner = bool(needs) and (exit_code == _NOT_FOUND or bool(_NO_RUNNER.search(output)))
    return TestRun(suite.command, outcome, exit_code, numbers, found, needs, lacks_runner)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed since the baseline. Only `new` failures and a shortfall count against the work."""

    new: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Failed at the baseline, too."""
    gone: tuple[str, ...] = ()
    """Were there at the baseline and are not any more."""
    skipped: tuple[str, ...] = ()
    """Ran at the baseline and are skipped now."""

    @property
    def shortfall(self) -> str:
        """Why fewer tests speak than before, in one sentence; empty where none is missing."""
        parts = []
        if self.gone:
            parts.append(f"{counted(len(self.gone), 'test')} fewer than before: {named_few(self.gone)}")
        if self.skipped:
            parts.append(f"{counted(len(self.skipped), 'test')} skipped that ran before: {named_few(self.skipped)}")
        return "; ".join(parts)


def compared(baseline: Results, now: Results) -> Comparison:
    failed = [name for name, result in now.items() if result is Result.FAILED]
    before = {name for name, result in baseline.items() if result is Result.FAILED}
    return Comparison(
        new=tuple(name for name in failed if name not in before),
        known=tuple(name for name in failed if name in before),
        gone=tuple(name for name in baseline if name not in now),
        skipped=tuple(
            name
            for name, result in now.items()
            if result is Result.SKIPPED and baseline.get(name) in (Result.PASSED, Result.FAILED)
        ),
    )


def merged(runs: Sequence[TestRun]) -> Results:
    """The tests of all suites. A name is told apart by its command where two suites have it."""
    found: dict[str, Result] = {}
    for run in runs:
        for name, result in run.results.items():
            found[name if name not in found else f"{run.command}: {name}"] = result
    return found


def _counted(found: Mapping[str, Result]) -> Counts | None:
    if not found:
        return None
    values = [*found.values()]
    return Counts(*(values.count(result) for result in (Result.PASSED, Result.FAILED, Result.SKIPPED)))


def _missing(output: str) -> str:
    for pattern, words in _MISSING:
        if found := pattern.search(output):
            return words.format(found[1])
    return ""


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"


def named_few(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more
