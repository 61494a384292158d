"""What tests have to show for a task: new ones that pass, and one for each acceptance criterion, found by its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forge.counts import counted
from forge.deliverables.code.tasks import ACCEPTANCE, Task
from forge.plugins.roles import TestResults

PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Lack:
    """What the tests of a task do not show yet: as a person is told it, and as an agent is told to supply it."""

    reason: str
    order: str
    criteria: tuple[int, ...] = ()


def lack_of(task: Task, criteria: Sequence[str], before: TestResults | None, now: TestResults) -> Lack | None:
    """None where the tests show what the task needs, or the runner does not tell."""
    if not task.tests:
        return None
    if task.id == ACCEPTANCE and criteria and now.results:
        return _untested(criteria, now)
    if before is None or new_passing(before, now):
        return None
    return Lack(
        "it brought no new test that passes",
        "The tests pass, but none of them is new. Write the tests that prove this task: each fails without your "
        "change and passes with it.",
    )


def new_passing(before: TestResults, now: TestResults) -> int:
    """How many tests pass now that did not before. Where a runner names none, the counts decide."""
    if now.results and (before.results or not before.total):
        return sum(result == PASSED and before.results.get(name) != PASSED for name, result in now.results.items())
    return max(0, now.passed - before.passed)


def untested(criteria: Sequence[str], now: TestResults) -> tuple[int, ...]:
    """Numbers of the criteria that no passing test names: `criterion 3` in any spelling."""
    passing = [name for name, result in now.results.items() if result == PASSED]
    return tuple(n for n in range(1, len(criteria) + 1) if not any(_names(n).search(name) for name in passing))


def _names(number: int) -> re.Pattern[str]:
    return re.compile(rf"criterion[\s_\-.:#]*0*{number}(?!\d)", re.IGNORECASE)


def _untested(criteria: Sequence[str], now: TestResults) -> Lack | None:
    missing = untested(criteria, now)
    if not missing:
        return None
    numbers = ", ".join(map(str, missing))
    word = "criterion" if len(missing) == 1 else "criteria"
    listed = "\n".join(f"{n}. {criteria[n - 1]}" for n in missing)
    return Lack(
        f"no passing test is named after {word} {numbers} of {len(criteria)}",
        f"No passing test has the name of {counted(len(missing), 'criterion', 'criteria')}. The name of its test has "
        f"`criterion_N` with the number, such as `test_criterion_{missing[0]}_…` or “criterion {missing[0]}: …”:\n\n"
        f"{listed}",
        missing,
    )
