"""What tests have to show for a task: new ones that pass, and one for each acceptance criterion, found by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forge.counts import counted
from forge.deliverables.code.tasks import ACCEPTANCE, BuildTask
from forge.plugins.roles import TestResults

PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Lack:
    """What the tests of a task do not show yet: as a person is told it, and as an agent is told to supply it."""

    reason: str
    order: str
    criteria: tuple[int, ...] = ()


def lack_of(task: BuildTask, criteria: Sequence[str], before: TestResults | None, now: TestResults) -> Lack | None:
    """None where the tests show what the task needs, or the runner does not tell."""
    if not task.tests:
        return None
    if task.has_acceptance and criteria and now.results and (lack := lack_of_criteria(criteria, now)):
        return lack
    if task.id == ACCEPTANCE and criteria and now.results:
        return None
    wanted, fresh = sum(each.tests for each in task.each), 0 if before is None else new_passing(before, now)
    if before is None or fresh >= wanted:
        return None
    if fresh:
        return Lack(
            f"it brought {counted(fresh, 'new test')} for {wanted} tasks",
            f"Only {counted(fresh, 'passing test is', 'passing tests are')} new, for {wanted} tasks. Write at least "
            "one for each of them, which fails without your change and passes with it.",
        )
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


def untested(criteria: Sequence[str], now: Mapping[str, str]) -> tuple[int, ...]:
    """Numbers of the criteria that no passing test names: `criterion 3` in any spelling."""
    passing = [name for name, result in now.items() if result == PASSED]
    return tuple(n for n in range(1, len(criteria) + 1) if not any(_names(n).search(name) for name in passing))


def unnamed(missing: Sequence[int], criteria: Sequence[str]) -> str:
    """As a person is told it."""
    word = "criterion" if len(missing) == 1 else "criteria"
    return f"no passing test is named after {word} {', '.join(map(str, missing))} of {len(criteria)}"


def _names(number: int) -> re.Pattern[str]:
    return re.compile(rf"criterion[\s_\-.:#]*0*{number}(?!\d)", re.IGNORECASE)


def lack_of_criteria(criteria: Sequence[str], now: TestResults) -> Lack | None:
    missing = untested(criteria, now.results)
    if not missing:
        return None
    listed = "\n".join(f"{n}. {criteria[n - 1]}" for n in missing)
    return Lack(
        unnamed(missing, criteria),
        f"No passing test has the name of {counted(len(missing), 'criterion', 'criteria')}. The name of its test has "
        f"`criterion_N` with the number, such as `test_criterion_{missing[0]}_…` or “criterion {missing[0]}: …”:\n\n"
        f"{listed}",
        missing,
    )
