"""Side-by-side times: both ways of doing a thing in turns, medians, one ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Action = Callable[[int], object]
"""Does the thing once; the argument counts the rounds, so that each round can work on something new."""


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    against: str
    size: str
    ours: float
    theirs: float
    goal: float | None
    """How many times faster we want to be; below 1 means that much slower is accepted."""

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.ratio >= self.goal


@dataclass(frozen=True, slots=True)
class Figure:
    """Something measured that is not a ratio of times."""

    what: str
    size: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool | None:
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    @property
    def bound(self) -> str:
        """What it should be, in words."""
        if self.at_most is not None:
            return f"at most {self.at_most:g} {self.unit}"
        return "" if self.at_least is None else f"at least {self.at_least:g} {self.unit}"


def compare(
    what: str,
    against: str,
    size: str,
    ours: Action,
    theirs: Action,
    *,
    rounds: int,
    goal: float | None = None,
    repeat_ours: int = 1,
) -> Row:
    """Run both in turns. `repeat_ours` counts a very short action several times a round."""
    own: list[float] = []
    other: list[float] = []
    for n in range(rounds):
        own.append(_timed(ours, n * repeat_ours, repeat_ours))
        other.append(_timed(theirs, n, 1))
    return Row(what, against, size, statistics.median(own), statistics.median(other), goal)


def _timed(action: Action, first: int, times: int) -> float:
    start = time.perf_counter()
    for n in range(first, first + times):
        action(n)
    return (time.perf_counter() - start) / times


def seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
