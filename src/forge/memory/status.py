"""Which status may follow which. The table is the rule; the function only reads it."""

from __future__ import annotations

from forge.memory.errors import StatusRefused
from forge.memory.values import Status

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.CREATED: frozenset({Status.IN_PROGRESS}),
    Status.IN_PROGRESS: frozenset({Status.BLOCKED, Status.COMPLETED}),
    Status.BLOCKED: frozenset({Status.IN_PROGRESS}),
    Status.COMPLETED: frozenset({Status.ARCHIVED}),
    Status.ARCHIVED: frozenset(),
}


def moved(now: Status, wanted: Status) -> Status:
    """`wanted`, if it may follow `now`."""
    if wanted in TRANSITIONS[now]:
        return wanted
    if now is Status.ARCHIVED:
        raise StatusRefused("An archived initiative is final.", hint="Start a new one.")
    if now is Status.COMPLETED:
        raise StatusRefused("A completed initiative is not opened again.", hint="Start a new one, or archive this one.")
    if now is wanted:
        raise StatusRefused(f"The initiative is {now.value} already.", hint="There is nothing to change.")
    legal = " or ".join(sorted(each.value for each in TRANSITIONS[now]))
    raise StatusRefused(
        f"An initiative that is {now.value} cannot become {wanted.value}.", hint=f"Next may be {legal}."
    )
