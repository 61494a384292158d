"""The guards that end polishing, in their order. Each looks at the rounds so far and nothing else.

Two kinds of success exist, termination and stagnation. Where tests count, neither is success without evidence that
they pass on this very commit: the loop continues instead, and the maximum of rounds ends it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import Levenshtein

from forge.counts import counted
from forge.plugins.roles import Issue, Severity

if TYPE_CHECKING:
    from forge.pipeline.evidence import Evidence


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """Every parameter of the guards. Shares are whole percents, so that comparing with them is exact."""

    critical_max: int = 0
    medium_max: int = 3
    minor_max: int = 5
    max_iterations: int = 50
    stagnation_limit: int = 3
    """Rounds with the same total that make a plateau."""
    rotation_percent: int = 70
    """Fewer known issues than this on a plateau: the findings rotate."""
    similarity: float = 0.8
    """Descriptions at least this alike are the same issue."""
    hallucination_percent: int = 20
    hallucination_trend: int = 2
    """Falling rounds before a jump that make it suspicious."""
    fabrication_percent: int = 50
    fabrication_increase: int = 2
    fabrication_window: int = 3
    fabrication_from: int = 4
    """The first round in which findings can be called fabricated."""
    tests_alone: int = 2
    """Rounds in which the review is content and only the tests are not: then a person is asked."""
    tests_same: int = 3
    """Rounds in which the tests do not pass for the same reason."""
    near_factor: float = 2
    """Near convergence: within this many times the thresholds."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one round found. `descriptions` is None where they are no longer known; then nothing counts as rotated."""

    iteration: int
    critical: int
    medium: int
    minor: int
    descriptions: tuple[str, ...] | None = None
    tests: str = ""
    """Why the tests do not pass; empty where they do, or there are none."""

    @classmethod
    def of(cls, iteration: int, issues: Sequence[Issue], tests: Evidence | None = None) -> Counts:
        found = Counter(issue.severity for issue in issues)
        critical, medium, minor = (found[severity] for severity in Severity)
        failing = tests.reason if tests is not None and not (tests.passes or tests.unproven) else ""
        return cls(iteration, critical, medium, minor, tuple(issue.description for issue in issues), failing)

    @property
    def total(self) -> int:
        return self.critical + self.medium + self.minor

    @property
    def by_severity(self) -> tuple[tuple[str, int], ...]:
        return (("critical", self.critical), ("medium", self.medium), ("minor", self.minor))

    def __str__(self) -> str:
        return ", ".join(f"{count} {severity}" for severity, count in self.by_severity)


class Guard(StrEnum):
    TERMINATION = "termination"
    HALLUCINATION = "hallucination"
    FABRICATION = "fabrication"
    STAGNATION = "stagnation"
    MAX_ITERATIONS = "max_iterations"
    TESTS = "tests"
    NO_CHANGE = "no_change"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`guard` ended it, or none did; `reason` is one sentence with the figures."""

    guard: Guard
    outcome: Literal["done", "halt", "continue"]
    reason: str
    halt_reason: str | None = None


_DEFAULTS = GuardLimits()


def evaluate(
    trajectory: Sequence[Counts], *, tests: Evidence | None, limits: GuardLimits = _DEFAULTS, tries: int | None = None
) -> Verdict:
    """What to do after the last round of `trajectory`. `tests` is None only for deliverables without tests.

    `tries` is how many rounds there were since a person last decided; None leaves failing tests to the other guards, as
    it was in runs that an older version began.
    """
    if not trajectory:
        return Verdict(Guard.NONE, "continue", "No round has been reviewed yet.")
    green = tests is None or tests.passes or tests.unproven
    if green and (reason := _converged(trajectory, limits)):
        return Verdict(Guard.TERMINATION, "done", reason + (f" {tests.reason}" if tests else ""))
    if reason := _hallucinated(trajectory, limits):
        return _halt(Guard.HALLUCINATION, reason)
    if reason := _fabricated(trajectory, limits):
        return _halt(Guard.FABRICATION, reason)
    if green and (reason := _stagnated(trajectory, limits)):
        return Verdict(Guard.STAGNATION, "done", reason)
    if tries and (reason := _tests_stuck(trajectory[-tries:], limits)):
        return _halt(Guard.TESTS, reason)
    now = trajectory[-1]
    if now.iteration >= limits.max_iterations:
        return _halt(Guard.MAX_ITERATIONS, f"Round {now.iteration} of at most {limits.max_iterations} still has {now}.")
    open_tests = "" if green or tests is None else f" {tests.reason}"
    return Verdict(Guard.NONE, "continue", f"Round {now.iteration} found {now}.{open_tests}")


def unchanged(looked: Verdict, tests: str = "") -> Verdict:
    """The round ended with an order to fix, and the agent changed no file: the next round would find the same. `tests`
    is why they are not accepted, where nothing else was found.
    """
    if tests:
        return _halt(Guard.NO_CHANGE, f"{tests.rstrip('.')}; the agent received the findings and changed no file.")
    return _halt(Guard.NO_CHANGE, f"The agent changed no file. {looked.reason}")


def _tests_stuck(tried: Sequence[Counts], limits: GuardLimits) -> str:
    now = tried[-1]
    alone, same = tried[-limits.tests_alone :], tried[-limits.tests_same :]
    if len(alone) == limits.tests_alone and all(each.tests and _within(each, limits) for each in alone):
        return f"The review is content, but the tests are not: {now.tests}"
    if len(same) == limits.tests_same and now.tests and {each.tests for each in same} == {now.tests}:
        return f"The tests do not pass for {counted(len(same), 'round')}, for the same reason: {now.tests}"
    return ""


def _halt(guard: Guard, reason: str) -> Verdict:
    return Verdict(guard, "halt", reason, f"guard_{guard}")


def _within(counts: Counts, limits: GuardLimits, factor: float = 1) -> bool:
    most = (limits.critical_max, limits.medium_max, limits.minor_max)
    return all(count <= limit * factor for (_, count), limit in zip(counts.by_severity, most, strict=True))


def _converged(trajectory: Sequence[Counts], limits: GuardLimits) -> str:
    if not _within(trajectory[-1], limits):
        return ""
    allowed = f"{limits.critical_max}, {limits.medium_max} and {limits.minor_max}"
    return f"{trajectory[-1]}: within the limits of {allowed}."


def _hallucinated(trajectory: Sequence[Counts], limits: GuardLimits) -> str:
    """From a total of 0, any finding is a jump of more than every percentage."""
    falling = [counts.total for counts in trajectory[-2 - limits.hallucination_trend : -1]]
    if len(falling) <= limits.hallucination_trend or any(after >= before for before, after in pairwise(falling)):
        return ""
    before, now = falling[-1], trajectory[-1].total
    if (now - before) * 100 <= before * limits.hallucination_percent:
        return ""
    return (
        f"The total jumped from {before} to {now}, more than {limits.hallucination_percent} %, "
        f"after {limits.hallucination_trend} falling rounds."
    )


def _fabricated(trajectory: Sequence[Counts], limits: GuardLimits) -> str:
    now, earlier = trajectory[-1], trajectory[:-1]
    if now.iteration < limits.fabrication_from or not earlier:
        return ""
    spike = _spike(now, earlier[-limits.fabrication_window :], limits)
    if not spike or not any(_within(counts, limits, limits.near_factor) for counts in earlier):
        return ""
    return spike


def _spike(now: Counts, window: Sequence[Counts], limits: GuardLimits) -> str:
    # Multiplied by the length of the window, so that a mean of thirds stays exact.
    width = len(window)
    for index, (severity, count) in enumerate(now.by_severity):
        summed = sum(counts.by_severity[index][1] for counts in window)
        above = count * width - summed
        if above * 100 > summed * limits.fabrication_percent and above >= limits.fabrication_increase * width:
            return (
                f"{count} {severity} against a mean of {summed / width:.3g} before, after having been near the limits."
            )
    return ""


def _stagnated(trajectory: Sequence[Counts], limits: GuardLimits) -> str:
    """Needs a round to compare with, and something that was found: nothing found cannot rotate."""
    plateau = trajectory[-limits.stagnation_limit :]
    if len(trajectory) < max(2, limits.stagnation_limit) or len({counts.total for counts in plateau}) > 1:
        return ""
    now, before = trajectory[-1].descriptions, trajectory[-2].descriptions
    if not now or before is None:
        return ""
    if not _rotated(now, before, limits):
        return ""
    known = f"fewer than {limits.rotation_percent} % of {counted(len(now), 'finding')} were there in the round before"
    return f"The total is {trajectory[-1].total} for {counted(len(plateau), 'round')}, and {known}."


def _rotated(now: Sequence[str], before: Sequence[str], limits: GuardLimits) -> bool:
    differing = 1 - Fraction(str(limits.similarity))
    fresh = 0
    for text in now:
        fresh += text not in before and not any(_alike(text, other, differing) for other in before)
        if fresh * 100 > len(now) * (100 - limits.rotation_percent):
            return True
    return False


def _alike(one: str, other: str, differing: Fraction) -> bool:
    # As a whole number of edits: bounding the library's similarity instead goes wrong for pairs at the very border.
    edits = max(len(one), len(other)) * differing.numerator // differing.denominator
    return Levenshtein.distance(one, other, score_cutoff=edits) <= edits
