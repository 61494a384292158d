"""What test runners print, where there is no report: how many tests passed, and which lines name a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forge.tools.result_text import clipped, lines_of


@dataclass(frozen=True, slots=True)
class Counts:
    passed: int
    failed: int
    skipped: int = 0


def counts(output: str) -> Counts | None:
    """How many tests passed and failed, where the output tells it in a known way."""
    for way in (_pytest_counts, _cargo_counts, _unittest_counts, _go_counts, _jest_counts, _mocha_counts):
        if (found := way(output)) is not None:
            return found
    return None


def _number(text: str, word: str) -> int:
    found = re.search(rf"(\d+) {word}", text)
    return int(found[1]) if found else 0


def _pytest_counts(output: str) -> Counts | None:
    for line in reversed(lines_of(output)):
        plain = line.strip("= ")
        if re.match(r"\d+ (passed|failed|error|skipped|xfailed|xpassed|deselected|warning)", plain) and " in " in plain:
            return Counts(
                _number(plain, "passed") + _number(plain, "xfailed"),
                _number(plain, "failed") + _number(plain, "error"),
                _number(plain, "skipped"),
            )
    return None


def _unittest_counts(output: str) -> Counts | None:
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    if not ran:
        return None
    end = re.search(r"^(?:OK|FAILED)(?: \((.*)\))?$", output[ran.end() :], re.MULTILINE)
    said = dict(re.findall(r"(\w+)=(\d+)", end[1] or "")) if end else {}
    failed = int(said.get("failures", 0)) + int(said.get("errors", 0))
    skipped = int(said.get("skipped", 0))
    return Counts(max(0, int(ran[1]) - failed - skipped), failed, skipped)


def _cargo_counts(output: str) -> Counts | None:
    found = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE)
    if not found:
        return None
    passed, failed, ignored = (sum(map(int, column)) for column in zip(*found, strict=True))
    return Counts(passed, failed, ignored)


def _go_counts(output: str) -> Counts | None:
    """Go names tests only when they fail; packages are counted instead."""
    good = re.findall(r"^ok\s+\S+", output, re.MULTILINE)
    bad = re.findall(r"^FAIL\s+\S+", output, re.MULTILINE)
    return Counts(len(good), len(bad)) if good or bad else None


def _jest_counts(output: str) -> Counts | None:
    found = re.search(r"^\s*Tests:?\s+(.*\b(?:passed|failed|skipped|total)\b.*)$", output, re.MULTILINE)
    if not found:
        return None
    return Counts(_number(found[1], "passed"), _number(found[1], "failed"), _number(found[1], "skipped"))


def _mocha_counts(output: str) -> Counts | None:
    passing = re.search(r"^\s*(\d+) passing|^# pass (\d+)", output, re.MULTILINE)
    if not passing:
        return None
    failing = re.search(r"^\s*(\d+) failing|^# fail (\d+)", output, re.MULTILINE)
    return Counts(_first(passing), _first(failing) if failing else 0)


def _first(found: re.Match[str]) -> int:
    return int(next(group for group in found.groups() if group))


_FAILURES = re.compile(
    r"^(?:(?:FAILED|ERROR)\s+\S+.*"  # pytest's short summary
    r"|(?:FAIL|ERROR): .*"  # unittest
    r"|\s*--- FAIL: .*"  # go
    r"|test .* \.\.\. FAILED"  # cargo
    r"|\s*●.*"  # jest
    r"|\s*(?:✕|×|✗|✖) .*"  # jest, vitest, ava, node
    r"|not ok \d+.*)$"  # TAP
)


def failures(output: str, most: int) -> tuple[str, ...]:
    """The first lines that name a failed test, each once."""
    return tuple(dict.fromkeys(_named_failures(output)))[:most]


def _named_failures(output: str) -> Iterator[str]:
    for line in lines_of(output):
        if _FAILURES.match(line):
            yield clipped(line.strip(), 300)
