"""A test run in words: the same for agents, the command line and the web interface."""

from __future__ import annotations

import re
import shlex

from forge.tools.result_text import clipped, tail
from forge.tools.suites.cases import Case, Result
from forge.tools.suites.outcome import Outcome
from forge.tools.suites.record import Record, SuiteRecord
from forge.tools.suites.text import failures

_FAILURES = 20
_OUTPUT_BYTES = 8_000
_OUTPUT_OF_SUCCESS = 600
_REASON = 200
_TELLING = re.compile(r"^(?:E\s+)?(\w*(?:Error|Exception|Failure|Assert\w*|Timeout)\b.*|panicked.*|expected.*)$", re.I)


def told(record: Record, *, reused: bool) -> str:
    """For an agent: verdict, failures with their places, and the end of the output, suite by suite."""
    first = ["These are the results of an earlier run on the same files with the same command."] if reused else []
    parts = [part for suite in record.suites for part in (verdict(suite, record.words), _details(record, suite))]
    return "\n".join(filter(None, [*first, *parts]))


def verdict(suite: SuiteRecord, words: tuple[str, ...] = ()) -> str:
    line = " ".join([suite.command, *map(shlex.quote, words)])
    return f"Tests {_said(suite)} (`{line}`, exit code {suite.exit_code})."


def _said(suite: SuiteRecord) -> str:
    match suite.outcome:
        case Outcome.CANNOT_RUN:
            return f"cannot run: {suite.missing}"
        case Outcome.FAILED:
            return f"FAILED{_numbers(suite)}"
        case Outcome.NO_TESTS if suite.exit_code:
            return "FAILED: the runner found none"
    return f"passed{_numbers(suite)}"


def _numbers(suite: SuiteRecord) -> str:
    skipped = f", {suite.skipped} skipped" if suite.skipped else ""
    flaky = f", {len(suite.flaky)} flaky" if suite.flaky else ""
    ran = suite.passed + suite.failed + suite.skipped
    return f": {suite.passed} passed, {suite.failed} failed{skipped}{flaky}" if ran else ""


def _details(record: Record, suite: SuiteRecord) -> str:
    flaky = [f"Flaky, failed first and passed when run again: {name}" for name in suite.flaky[:_FAILURES]]
    if suite.exit_code == 0:
        return "\n".join([*flaky, tail(suite.printed, _OUTPUT_OF_SUCCESS)])
    failed = [each for each in record.tests if each.result is Result.FAILED] if suite.failed else []
    named = [failure_line(each) for each in failed[:_FAILURES]] or [*failures(suite.printed, _FAILURES)]
    shown = ["First failures:", *(f"- {each}" for each in named)] if named else []
    return "\n".join([*flaky, *shown, "Last output:", tail(suite.printed, _OUTPUT_BYTES) or "(none)"])


def failure_line(case: Case) -> str:
    place = f"{case.file}:{case.line}" if case.line else case.file
    why = reason(case)
    return f"{f'{place}: ' if place else ''}{case.name}{f': {why}' if why else ''}"


def reason(case: Case) -> str:
    """One line of what the runner says: the one that names the error, else the first."""
    lines = [line.strip() for line in case.message.splitlines() if line.strip()]
    telling = next((found[1] for line in lines if (found := _TELLING.match(line))), "")
    return clipped(telling or (lines[0] if lines else ""), _REASON)
