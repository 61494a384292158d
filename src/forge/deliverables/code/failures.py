"""Failing tests: whether they fail as they did before, and how an agent or a person is told of them."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from forge.plugins.roles import TestResults
from forge.tools.suites.outcome import Outcome, named_few

_OUTPUT = 6_000
_GIST = 200
_NO_TESTS_COLLECTED = 5
"""What pytest and unittest exit with when they found nothing to run."""
_NOISE = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\x1b\[[0-9;?]*[a-z]", ""),
        (r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/(?:[^\s'\"():,]*/)?", ""),  # what a path ends with stays
        (r"\btmp[a-z0-9_]{6,}\b|\bpytest-\d+\b", "·"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "·"),
        (r"\b0x[0-9a-f]+\b", "·"),
        (r"\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?", "·"),
        (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b", "·"),
        (r"\b\d+(?:\.\d+)?\s*(?:ns|µs|us|ms|s|secs?|seconds?|m|min|minutes?)\b", "·"),
        (r"\b(?:pid|port|seed|line)[ =:]+\d+\b|--[\w-]*seed=\d+", "·"),
        (r"(?<=\.\w)(\w*):\d+(?::\d+)?", r"\1"),  # a place in a file
        (r"\[\s*\d+%\]|\[gw\d+\]", ""),
        (r"\b\d{9,}\b", "·"),
    )
)
# Lines by which test runners name what failed; everything else moves with the tests that pass.
_TELLING = re.compile(
    r"^\s*(?:FAILED|FAIL|ERROR|E\s|--- FAIL|not ok|✕|✖|×|●|thread '.*panicked)"
    r"|\b(?:FAILED|ERROR)\s*$|\.\.\. (?:FAIL|ERROR)|^\s*\w*(?:Error|Exception)\b",
)
_SUMMARY = re.compile(r"\b\d+ (?:passed|failed|errors?)\b|^\s*(?:FAILED|FAIL|Ran|Tests?:?)\s*[(:\d]", re.IGNORECASE)
HONEST = (
    "Mend the code. Never delete, skip or weaken a test, and never make the code recognise one; only a test that "
    "contradicts the specification may be corrected, and then say which one and why."
)


def none_found(tests: TestResults) -> bool:
    """Whether there is nothing to run, as opposed to a runner that broke down before it could count."""
    if tests.outcome:
        return tests.outcome == Outcome.NO_TESTS
    return tests.total == 0 and (not tests.command or tests.exit_code in {0, _NO_TESTS_COLLECTED})


def fingerprint(tests: TestResults) -> str:
    """The same for failures that differ only in times, addresses, temporary paths, places in files and order."""
    lines = {quiet for line in tests.details.splitlines() if (quiet := _quiet(line))}
    kept = sorted({line for line in lines if _tells(line)} or lines)
    return hashlib.sha256("\n".join([f"{tests.failed}", *kept]).encode("utf-8", "surrogatepass")).hexdigest()


def _tells(line: str) -> bool:
    return bool(_TELLING.search(line)) and not _SUMMARY.search(line)


def _quiet(line: str) -> str:
    for noise, instead in _NOISE:
        line = noise.sub(instead, line)
    return " ".join(line.split())


def failing(tests: TestResults) -> str:
    """What an agent is told."""
    if none_found(tests):
        undo = f"Take back what can hide a failing test: {named_few(tests.evasions)}." if tests.evasions else ""
        write = "There are no tests that could be run. Write those that are asked for."
        return "\n\n".join(filter(None, [write, undo, HONEST]))
    printed = _fenced(tests.details[-_OUTPUT:])
    if tests.cannot_run and tests.broken:
        return f"No test ran (`{tests.command}`): {tests.missing}. Mend that first.\n\n{HONEST}\n\n{printed}"
    if tests.cannot_run:
        return (
            f"The tests cannot run (`{tests.command}`): {tests.missing}. If that is yours, supply it; nothing can be "
            f"installed, so do without what is not there.\n\n{HONEST}\n\n{printed}"
        )
    head = (
        f"The tests do not pass: {tests.failed} of {tests.total} failed (`{tests.command}`, exit code "
        f"{tests.exit_code})."
    )
    named = f"New failures: {named_few(tests.new_failures)}." if tests.new_failures else ""
    unloaded = [name for name in tests.broken if name not in tests.known]
    files = f"Cannot be loaded, so none of their tests ran: {named_few(unloaded)}." if unloaded else ""
    return "\n\n".join(filter(None, [head, named, files, not_yours(tests), HONEST, printed]))


def not_yours(tests: TestResults | None) -> str:
    """Failures that were there before the work."""
    return (
        f"Tests that failed before you began are not yours: {named_few(tests.known)}." if tests and tests.known else ""
    )


def gist(tests: TestResults) -> str:
    """What a person is told, in one line."""
    if none_found(tests) and tests.command:
        return f"no test ran (`{tests.command}`, exit code {tests.exit_code}){_hiding(tests)}"
    lines = [" ".join(line.split()) for line in tests.details.splitlines() if line.strip()]
    return ([line for line in lines if _tells(line)] or lines or [f"exit code {tests.exit_code}"])[-1][
        :_GIST
    ] + _hiding(tests)


def _hiding(tests: TestResults) -> str:
    return f"; changes that can hide a failing test: {named_few(tests.evasions)}" if tests.evasions else ""


def _fenced(text: str) -> str:
    """Whatever stands in the text cannot end the fence."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def told(tests: TestResults | None) -> dict[str, Any]:
    """What a reviewer is given."""
    if tests is None:
        return {}
    return {
        "total": tests.total,
        "passed": tests.passed,
        "failed": tests.failed,
        "skipped": tests.skipped,
        **({"flaky": [*tests.flaky]} if tests.flaky else {}),
        "exit_code": tests.exit_code,
        "new_failures": [*tests.new_failures],
        "failed_before_the_work_began": [*tests.known],
        "output": tests.details[-_OUTPUT:],
    }
