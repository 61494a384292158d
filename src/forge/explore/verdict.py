"""Go or no go: `go` is arithmetic over the register, never an opinion."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from forge.explore.assumption import Assumption
from forge.explore.errors import VerdictRefused
from forge.explore.register import LINE, Register

VERDICTS = ("go", "conditional_go", "pivot", "no_go")


def obstacles(register: Register, line: float = LINE, today: date | None = None) -> tuple[Assumption, ...]:
    """What is in the way of `go`: what is untested above the line, and what is gone although much hangs on it."""
    counts = register.resting_counts()
    gone = (each for each in register.assumptions.values() if each.status == "invalidated")
    bearing = tuple(each for each in gone if each.impact == "high" or counts[each.id])
    return (*register.untested(line, today), *bearing)


def check(
    verdict: str, register: Register, conditions: Sequence[str], line: float = LINE, today: date | None = None
) -> None:
    """Raise `VerdictRefused` where the register does not allow the verdict, naming the cheapest test."""
    if verdict == "go":
        found = obstacles(register, line, today)
        if found:
            risks = register.risks(today)
            first = found[0]
            others = f" Also in the way: {', '.join(each.id for each in found[1:6])}." if len(found) > 1 else ""
            how = "is invalidated" if first.status == "invalidated" else f"is untested with risk {risks[first.id]:g}"
            raise VerdictRefused(
                f"`go` is not possible: {first.id} {how}, above the line of {line:g}.{others}",
                hint=f"Cheapest test of {first.id}: {first.cheapest_test}. Or give `conditional_go` with conditions.",
            )
    if verdict == "conditional_go" and not conditions:
        raise VerdictRefused("`conditional_go` needs conditions.", hint="Name at least one, with the assumption's id.")
