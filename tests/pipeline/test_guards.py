"""The five guards: their order, their exact borders, and laws that hold for every trajectory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.pipeline.evidence import Evidence
from forge.pipeline.guards import Counts, Guard, GuardLimits, Verdict, evaluate
from forge.plugins.roles import Issue, Severity
from tests.support.guard_cases import CLASSES, cases, forge_verdict, right_verdict

pytestmark = pytest.mark.req("P-10")

GREEN = Evidence(passes=True, reason="All 4 tests pass.")
RED = Evidence(passes=False, reason="1 of 4 tests fails.")


def rounds(*counts: tuple[int, int, int], descriptions: tuple[str, ...] | None = None) -> list[Counts]:
    return [Counts(n, *found, descriptions=descriptions) for n, found in enumerate(counts, 1)]


def totals(*values: int) -> list[Counts]:
    """All of them critical, so that no round is ever near the limits."""
    return rounds(*((value, 0, 0) for value in values))


def verdict(trajectory: Sequence[Counts], tests: Evidence | None = None) -> Verdict:
    return evaluate(trajectory, tests=tests)


def test_before_the_first_round_nothing_is_decided() -> None:
    assert verdict([]).outcome == "continue"


@pytest.mark.parametrize("found", [(0, 3, 5), (0, 0, 0), (0, 3, 0)])
def test_a_round_within_the_limits_ends_it_even_the_first(found: tuple[int, int, int]) -> None:
    ended = verdict(rounds(found))
    assert (ended.guard, ended.outcome, ended.halt_reason) == (Guard.TERMINATION, "done", None)


@pytest.mark.parametrize("found", [(1, 0, 0), (0, 4, 0), (0, 0, 6)])
def test_one_finding_above_any_limit_goes_on(found: tuple[int, int, int]) -> None:
    assert verdict(rounds(found)) == Verdict(
        Guard.NONE, "continue", f"Round 1 found {found[0]} critical, {found[1]} medium, {found[2]} minor."
    )


def test_with_tests_that_do_not_pass_no_round_is_good_enough() -> None:
    assert verdict(rounds((0, 0, 0)), RED).outcome == "continue"
    assert "1 of 4 tests fails." in verdict(rounds((0, 0, 0)), RED).reason
    assert verdict(rounds((0, 0, 0)), GREEN).outcome == "done"


@pytest.mark.parametrize(
    ("series", "halts"),
    [
        ((20, 15, 10, 13), True),
        ((20, 15, 10, 12), False),  # exactly 20 %
        ((15, 10, 13), False),  # only one falling round
        ((20, 20, 10, 13), False),  # one of the two did not fall
        ((5, 20, 15, 10, 13), True),
        ((30, 20, 15, 10, 13), True),
        ((3, 2, 0, 1), True),  # from nothing, any finding is a jump
        ((3, 2, 0, 0), False),
    ],
)
def test_a_jump_of_more_than_a_fifth_after_two_falling_rounds_is_hallucination(
    series: tuple[int, ...], halts: bool
) -> None:
    ended = verdict(totals(*series), RED)
    assert (ended.halt_reason == "guard_hallucination") is halts
    if halts:
        assert f"from {series[-2]} to {series[-1]}" in ended.reason


NEAR, FAR = (0, 6, 10), (1, 6, 10)


@pytest.mark.parametrize(
    ("before", "now", "halts"),
    [
        ([NEAR] * 3, (0, 10, 10), True),
        ([NEAR] * 3, (0, 9, 10), False),  # exactly 50 %
        ([NEAR] * 3, (2, 6, 10), True),  # from a mean of 0, two are enough
        ([NEAR] * 3, (1, 6, 10), False),  # one is not
        ([FAR] * 3, (1, 10, 10), False),  # never near the limits
        ([(1, 2, 10)] * 3, (0, 5, 10), False),  # near only now
        ([NEAR] * 2, (0, 10, 10), False),  # round 3
        ([NEAR, FAR, FAR, FAR, FAR], (1, 10, 10), True),  # being near once is enough
        ([(0, 0, 9), (0, 7, 0), (0, 0, 11)], (0, 99, 0), True),  # the first of these was near
        ([(0, 7, 9), (0, 0, 11), (1, 0, 0)], (0, 99, 0), False),  # none was near in all three
        ([NEAR, (0, 1, 10), (0, 1, 10), (0, 2, 10)], (0, 4, 10), True),  # mean 4/3: more than two above
        ([NEAR, (0, 2, 10), (0, 2, 10), (0, 3, 10)], (0, 4, 10), False),  # mean 7/3: less than two above
    ],
)
def test_a_burst_in_one_severity_after_near_convergence_is_fabrication(
    before: list[tuple[int, int, int]], now: tuple[int, int, int], halts: bool
) -> None:
    # A total that does not fall keeps the guard before this one out of it.
    ended = verdict(rounds(*before, now), RED)
    assert (ended.halt_reason == "guard_fabrication") is halts, ended


def plateau(before: Sequence[str], now: Sequence[str], length: int = 3) -> list[Counts]:
    earlier = [Counts(n, len(before), 0, 0, tuple(before)) for n in range(1, length)]
    return [*earlier, Counts(length, len(now), 0, 0, tuple(now))]


OLD = [f"{word * 4} is wrong" for word in ("abc", "def", "ghi", "jkl", "mno", "pqr", "stu", "vwx", "yza", "bcd")]
NEW = [f"{digit * 12} is missing" for digit in "0123456789"]


@pytest.mark.parametrize(
    ("known", "length", "done"),
    [(6, 3, True), (7, 3, False), (10, 3, False), (0, 3, True), (0, 2, False), (0, 5, True)],
)
def test_a_plateau_of_rotating_findings_is_success(known: int, length: int, done: bool) -> None:
    ended = verdict(plateau(OLD, [*OLD[:known], *NEW[known:]], length))
    assert (ended.guard is Guard.STAGNATION and ended.outcome == "done") is done
    if done:
        assert "fewer than 70 % of 10 findings" in ended.reason


@pytest.mark.parametrize("fifth", range(1, 40))
def test_findings_are_the_same_when_four_fifths_of_their_letters_agree(fifth: int) -> None:
    before = ["a" * fifth * 5]
    for changed, known in ((fifth, True), (fifth + 1, False)):
        now = ["x" * changed + "a" * (fifth * 5 - changed)]
        assert (verdict(plateau(before, now)).outcome == "continue") is known


def test_a_different_total_anywhere_in_the_window_is_no_plateau() -> None:
    trajectory = plateau(OLD, NEW)
    trajectory[0] = replace(trajectory[0], critical=11)
    assert verdict(trajectory).outcome == "continue"


def test_a_plateau_is_no_success_without_tests_that_pass() -> None:
    assert verdict(plateau(OLD, NEW), GREEN).outcome == "done"
    assert verdict(plateau(OLD, NEW), RED).outcome == "continue"


def test_nothing_found_and_findings_no_longer_known_do_not_count_as_rotating() -> None:
    assert verdict(plateau([], []), RED).outcome == "continue"
    unknown = [replace(counts, descriptions=None) for counts in plateau(OLD, NEW)]
    assert verdict(unknown).outcome == "continue"
    assert verdict([*unknown[:-1], plateau(OLD, NEW)[-1]]).outcome == "continue"
    assert verdict([*plateau(OLD, NEW)[:-1], unknown[-1]]).outcome == "continue"


def test_the_last_round_allowed_halts() -> None:
    trajectory = totals(*[9] * 50)
    assert verdict(trajectory[:49]).outcome == "continue"
    assert verdict(trajectory).halt_reason == "guard_max_iterations"


def test_counts_come_from_the_issues_and_repeated_ones_count_again() -> None:
    issue = Issue(Severity.MEDIUM, "slow", "a", "b")
    counts = Counts.of(3, (issue, issue, Issue(Severity.CRITICAL, "down", "a", "b")))
    assert counts == Counts(3, 1, 2, 0, ("slow", "slow", "down"))


def test_every_limit_can_be_set() -> None:
    strict = GuardLimits(minor_max=0, hallucination_percent=0, max_iterations=4)
    assert evaluate(rounds((0, 0, 1)), tests=None, limits=strict).outcome == "continue"
    assert evaluate(totals(9, 8, 7, 8), tests=None, limits=strict).guard is Guard.HALLUCINATION
    assert evaluate(totals(9, 9, 9, 9), tests=None, limits=strict).guard is Guard.MAX_ITERATIONS
    assert evaluate(plateau(OLD, NEW), tests=None, limits=GuardLimits(stagnation_limit=4)).outcome == "continue"
    assert evaluate(plateau(OLD, NEW, 2), tests=None, limits=GuardLimits(stagnation_limit=1)).outcome == "done"
    assert evaluate(plateau(OLD, NEW, 1), tests=None, limits=GuardLimits(stagnation_limit=1)).outcome == "continue"


# Laws

texts = st.sampled_from([*OLD[:4], *NEW[:4], OLD[0] + "!", ""])
issues = st.lists(st.builds(Issue, st.sampled_from(Severity), texts, st.just("a"), st.just("b")), max_size=8)
histories = st.lists(issues, min_size=1, max_size=12)
evidence = st.sampled_from([None, GREEN, RED])


def trajectory_of(history: Sequence[Sequence[Issue]], first: int = 1) -> list[Counts]:
    return [Counts.of(n, found) for n, found in enumerate(history, first)]


@given(histories, evidence, st.integers())
def test_the_order_of_issues_does_not_matter(history: list[list[Issue]], tests: Evidence | None, seed: int) -> None:
    shuffled = [random.Random(seed).sample(found, len(found)) for found in history]
    assert evaluate(trajectory_of(history), tests=tests) == evaluate(trajectory_of(shuffled), tests=tests)


@given(st.lists(issues, min_size=4, max_size=8), st.lists(issues, max_size=20), evidence)
def test_rounds_before_every_window_do_not_matter_unless_they_were_near_the_limits(
    window: list[list[Issue]], before: list[list[Issue]], tests: Evidence | None
) -> None:
    far = [[*found, Issue(Severity.CRITICAL, "down", "a", "b")] for found in before]
    # The window keeps its own round numbers: those count towards the maximum.
    short, long = trajectory_of(window, 21), [*trajectory_of(far), *trajectory_of(window, 21)]
    assert evaluate(short, tests=tests) == evaluate(long, tests=tests)


@given(histories, st.sampled_from([None, GREEN]), st.integers(0, 3), st.integers(0, 5), st.integers(1, 90))
def test_termination_wins_over_every_other_guard(
    history: list[list[Issue]], tests: Evidence | None, medium: int, minor: int, last: int
) -> None:
    trajectory = [*trajectory_of(history), Counts(last, 0, medium, minor, ())]
    assert evaluate(trajectory, tests=tests).guard is Guard.TERMINATION


@given(histories, st.integers(50, 1000), evidence)
def test_nothing_runs_past_the_fiftieth_round(history: list[list[Issue]], last: int, tests: Evidence | None) -> None:
    assert evaluate(trajectory_of(history, last - len(history) + 1), tests=tests).outcome != "continue"


@given(histories)
def test_nothing_is_done_while_tests_do_not_pass(history: list[list[Issue]]) -> None:
    assert evaluate(trajectory_of(history), tests=RED).outcome != "done"


@given(histories, evidence)
def test_only_a_halt_has_a_reason_to_halt(history: list[list[Issue]], tests: Evidence | None) -> None:
    ended = evaluate(trajectory_of(history), tests=tests)
    assert (ended.halt_reason is not None) == (ended.outcome == "halt")
    assert ended.reason.endswith(".")


# The same as `script/bench guards`


@pytest.mark.parametrize("kind", CLASSES)
def test_every_generated_trajectory_gets_its_right_verdict(kind: str) -> None:
    generated = cases(kinds=(kind,))
    assert len(generated) * len(CLASSES) >= 300
    expected = [right_verdict(case) for case in generated]
    assert [forge_verdict(case) for case in generated] == expected
    assert len({guard for guard, _, _ in expected}) > 1 or kind == "honest slow progress"
