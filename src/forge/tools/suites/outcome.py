"""What one run of a test suite came to, and how it compares with the run before the work began."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from forge.counts import counted
from forge.tools.suites.cases import Case, Result, Results, by_name
from forge.tools.suites.reports import cases
from forge.tools.suites.suite import Suite
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
_WHY = re.compile(r"\b\w*(?:Error|Exception)\b: .+")
_LONGEST_WHY = 200


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    CANNOT_RUN = "cannot run"
    """The runner or something it needs is missing, or the suite broke before any test."""
    NO_TESTS = "no tests"


_GRAVEST = (Outcome.CANNOT_RUN, Outcome.FAILED, Outcome.PASSED, Outcome.NO_TESTS)


def gravest(outcomes: Iterable[Outcome]) -> Outcome:
    """Of several suites: one that passes hides no other."""
    found = set(outcomes)
    return next((outcome for outcome in _GRAVEST if outcome in found), Outcome.NO_TESTS)


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
    cases: tuple[Case, ...] = ()
    """The tests of `results`, with their places and messages."""

    @property
    def flaky(self) -> tuple[str, ...]:
        """Failed first, passed when they were run again."""
        return tuple(each.name for each in self.cases if each.flaky)

    @property
    def broken(self) -> tuple[str, ...]:
        """Files that could not be loaded."""
        return tuple(each.name for each in self.cases if each.broken)

    @property
    def failed(self) -> tuple[str, ...]:
        return tuple(name for name, result in self.results.items() if result is Result.FAILED)


def judged(suite: Suite, exit_code: int, output: str, report: str) -> TestRun:
    """The exit code decides between passed and failed; names and counts tell what ran."""
    told = cases(suite.form, output, report)
    found = by_name(told)
    numbers = _counted(found) or counts(output) or Counts(0, 0)
    unloaded = tuple(each for each in told if each.broken)
    if unloaded and len(unloaded) == len(told):
        # Not one test ran: what the report calls a failure is a file.
        numbers = Counts(0, 0)
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
    needs = (missing or _unloaded(unloaded) or _last_line(output)) if outcome is Outcome.CANNOT_RUN else ""
    lacks_runner = bool(needs) and (exit_code == _NOT_FOUND or bool(_NO_RUNNER.search(output)))
    return TestRun(suite.command, outcome, exit_code, numbers, found, needs, lacks_runner, told)


def after_second_run(first: TestRun, second: TestRun) -> TestRun:
    """The first run, with what the second one showed about its failures. Both failures and flaky tests stay named.

    The suite passes only where every failure passed the second time and the runner itself ended well.
    """
    again = second.results
    told = tuple(
        replace(each, result=Result.PASSED, flaky=True)
        if each.result is Result.FAILED and again.get(each.name) is Result.PASSED
        else each
        for each in first.cases
    )
    found = by_name(told)
    passes = Result.FAILED not in found.values() and second.exit_code == 0
    return replace(
        first,
        cases=told,
        results=found,
        counts=_counted(found) or first.counts,
        outcome=Outcome.PASSED if passes else first.outcome,
        exit_code=0 if passes else first.exit_code,
    )


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
    """The tests of all suites. A name is distinguished by its command where two suites have it."""
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


def _unloaded(files: Sequence[Case]) -> str:
    if not files:
        return ""
    names = named_few([f"`{each.name}`" for each in files])
    why = next((found[-1] for each in files if (found := _WHY.findall(each.message))), "")
    word = "the test file" if len(files) == 1 else "the test files"
    return f"{word} {names} cannot be loaded{f': {why[:_LONGEST_WHY].strip()}' if why else ''}"


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"


def named_few(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more
