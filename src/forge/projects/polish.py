"""Rounds of polishing as `polish_state.json` and `polish_log.md` keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forge.projects import fields
from forge.projects.errors import InvalidRecord

FILE = "polish_state.json"
LOG_FILE = "polish_log.md"

_COUNTS = ("critical", "medium", "minor", "total")


@dataclass(frozen=True, slots=True)
class Round:
    iteration: int
    critical: int
    medium: int
    minor: int
    total: int
    timestamp: str


@dataclass(frozen=True, slots=True)
class PolishState:
    """What polishing has come to. `error_counts` of the file are those of the last round."""

    convergence_trajectory: tuple[Round, ...] = ()
    tests_passed: bool | None = None
    """None where there are no tests, as for a plan."""
    timestamp: str = ""
    completed: bool = False
    halt_reason: str | None = None

    @property
    def iteration(self) -> int:
        return self.convergence_trajectory[-1].iteration if self.convergence_trajectory else 0


@dataclass(frozen=True, slots=True)
class TestCounts:
    """What a run of the tests counted."""

    __test__ = False  # not a test class, whatever its name looks like to a test runner

    total: int
    passed: int
    failed: int


def format(state: PolishState) -> str:  # noqa: A001 - always called as polish.format
    rounds = state.convergence_trajectory
    return fields.dumped(
        {
            "iteration": state.iteration,
            "error_counts": {name: getattr(rounds[-1], name) if rounds else 0 for name in _COUNTS},
            "convergence_trajectory": [{name: getattr(r, name) for name in Round.__slots__} for r in rounds],
            "tests_passed": state.tests_passed,
            "timestamp": state.timestamp,
            "completed": state.completed,
            "halt_reason": state.halt_reason,
        }
    )


def parse(text: str | None) -> PolishState:
    """The state that the file holds. No file: nothing polished yet."""
    if text is None:
        return PolishState()
    values = fields.loaded_object(text, FILE)
    trajectory, passed = values.get("convergence_trajectory"), values.get("tests_passed")
    if not isinstance(trajectory, list) or not all(isinstance(entry, dict) for entry in trajectory):
        raise fields.invalid(FILE, "convergence_trajectory", "a list of rounds")
    if passed is not None and not isinstance(passed, bool):
        raise fields.invalid(FILE, "tests_passed", "true, false or null")
    state = PolishState(
        convergence_trajectory=tuple(_round(entry) for entry in trajectory),
        tests_passed=passed,
        timestamp=fields.text_of(values, "timestamp", FILE),
        completed=fields.flag_of(values, "completed", FILE),
        halt_reason=fields.optional_text(values, "halt_reason", FILE),
    )
    if fields.count_of(values, "iteration", FILE) != state.iteration:
        raise InvalidRecord(
            f"{FILE} names another round than its trajectory ends with.", hint=f"Repair or remove {FILE}."
        )
    return state


def _round(entry: Mapping[str, Any]) -> Round:
    counts = {name: fields.count_of(entry, name, FILE) for name in ("iteration", *_COUNTS)}
    return Round(**counts, timestamp=fields.text_of(entry, "timestamp", FILE))


def log_entry(
    polished: Round, *, guard: str, result: str, issues: str, fixes: str, tests: TestCounts | None = None
) -> str:
    """The Markdown of one round, to be appended to `polish_log.md`. Without tests there is no line for them."""
    counts = f"{polished.critical} critical, {polished.medium} medium, {polished.minor} minor ({polished.total} total)"
    lines = [
        f"## Iteration {polished.iteration}",
        "",
        f"**Timestamp:** {polished.timestamp}",
        f"**Error Counts:** {counts}",
        f"**Guard Evaluated:** {guard} — {result}",
        f"**Issues Found:** {issues}",
        f"**Fixes Applied:** {fixes}",
    ]
    if tests is not None:
        lines.append(f"**Test Results:** {tests.total} total, {tests.passed} passed, {tests.failed} failed")
    return "\n".join(lines) + "\n\n"
