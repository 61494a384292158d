"""The assumption register keeps its laws, whatever is done to it."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.explore.assumption import CONFIDENCES, IMPACTS, STATUSES, Assumption
from forge.explore.errors import AssumptionMissing, ChangeRefused
from forge.explore.register import Register

pytestmark = pytest.mark.req("W-10")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def chain(length: int) -> Register:
    register = Register()
    for number in range(1, length + 1):
        on = (f"A{number - 1}",) if number > 1 else ()
        register, _ = register.added(f"claim {number}", depends_on=on)
    return register


def check_laws(register: Register) -> None:
    ids = list(register.assumptions)
    assert len(ids) <= register.counter
    assert all(int(id_[1:]) <= register.counter for id_ in ids)
    for each in register.assumptions.values():
        assert all(on in register.assumptions for on in each.depends_on)
        assert each.id not in register.resting_on(each.id)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_random_changes_keep_the_laws(data: st.DataObject) -> None:
    register, given_ids = Register(), []
    for step in range(data.draw(st.integers(1, 25))):
        known = [*register.assumptions, "A999", "x"]
        some = data.draw(st.lists(st.sampled_from(known), max_size=3))
        before = register
        try:
            match data.draw(st.sampled_from(["add", "status", "depends", "confidence"])):
                case "add":
                    impact = data.draw(st.sampled_from(IMPACTS))
                    register, made = register.added(f"claim {step}", depends_on=some, impact=impact)
                    assert made.id not in given_ids
                    given_ids.append(made.id)
                case "status":
                    id_, status = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(STATUSES))
                    register, shaken = register.with_status(id_, status)
                    if status == "invalidated":
                        above = {register.assumptions[each].status for each in register.resting_on(id_)}
                        assert above <= {"at_risk", "invalidated"}
                        assert set(shaken) <= register.resting_on(id_)
                    if status == "confirmed":
                        assert register.get(id_).confidence != "guessed"
                case "depends":
                    register = register.changed(data.draw(st.sampled_from(known)), depends_on=some)
                case "confidence":
                    wanted = data.draw(st.sampled_from(CONFIDENCES))
                    register = register.changed(data.draw(st.sampled_from(known)), confidence=wanted)
        except (AssumptionMissing, ChangeRefused):
            assert register is before
        check_laws(register)
        assert Register.from_json(register.to_json(), register.counter) == register


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["A1", "A2", "A3", "A10", "B1", "A0"]), JSON), JSON)
def test_any_saved_register_loads(saved: Any, counter: Any) -> None:
    check_laws(Register.from_json(saved, counter))


@given(st.lists(st.lists(st.sampled_from([f"A{n}" for n in range(1, 7)]), max_size=4), min_size=1, max_size=6))
def test_circles_that_a_person_wrote_into_the_file_are_opened(edges: list[list[str]]) -> None:
    saved = {f"A{n}": {"claim": str(n), "depends_on": on} for n, on in enumerate(edges, 1)}
    check_laws(Register.from_json(saved, 0))


def test_ids_are_not_given_twice_even_if_the_last_one_was_taken_out_by_hand() -> None:
    register = chain(3)
    saved = {id_: each for id_, each in register.to_json().items() if id_ != "A3"}
    _, made = Register.from_json(saved, register.counter).added("another")
    assert made.id == "A4"


def test_a_collapse_reaches_everything_that_rests_on_it() -> None:
    register, shaken = chain(5).with_status("A2", "invalidated")
    assert shaken == ("A3", "A4", "A5")
    assert [each.status for each in register.assumptions.values()] == ["active", "invalidated", *["at_risk"] * 3]
    assert register.broken_paths() == (("A3", "A2"), ("A4", "A3"), ("A5", "A4"))


def test_what_is_built_on_a_broken_assumption_is_at_risk_from_the_start() -> None:
    register, _ = chain(1).with_status("A1", "invalidated")
    assert register.added("on it", depends_on=("A1",))[1].status == "at_risk"


def test_confirming_raises_a_guess_to_informed_and_no_further() -> None:
    register, _ = chain(2).with_status("A1", "confirmed")
    assert register.get("A1").confidence == "informed"
    validated = register.changed("A1", confidence="validated").with_status("A1", "confirmed")[0]
    assert validated.get("A1").confidence == "validated"


@pytest.mark.parametrize(
    ("impact", "confidence", "resting", "risk"),
    [
        ("high", "guessed", 0, 2.4),
        ("high", "guessed", 1, 3.0),
        ("high", "guessed", 4, 4.8),
        ("high", "guessed", 40, 4.8),
        ("medium", "guessed", 0, 1.6),
        ("low", "guessed", 0, 0.8),
        ("high", "informed", 0, 1.2),
        ("high", "informed", 2, 1.8),
        ("high", "validated", 4, 0.3),
    ],
)
def test_risk_is_impact_times_doubt_times_what_rests_on_it(
    impact: str, confidence: str, resting: int, risk: float
) -> None:
    assert Assumption("A1", "x", impact=impact, confidence=confidence).risk(resting) == pytest.approx(risk)


def test_what_has_expired_counts_as_guessed() -> None:
    each = Assumption("A1", "x", impact="high", confidence="validated", expires="2026-03-01")
    assert each.risk(0, date(2026, 3, 1)) == pytest.approx(0.15)
    assert each.risk(0, date(2026, 3, 2)) == pytest.approx(2.4)


def test_risk_counts_everything_that_rests_on_it_through_any_depth() -> None:
    assert chain(6).resting_counts() == {"A1": 5, "A2": 4, "A3": 3, "A4": 2, "A5": 1, "A6": 0}


@pytest.mark.parametrize("broken", ["A1", "A2"])
def test_dependencies_never_run_in_a_circle(broken: str) -> None:
    with pytest.raises(ChangeRefused, match="cannot depend"):
        chain(2).changed("A1", depends_on=(broken,))


def test_the_same_claim_is_registered_once() -> None:
    with pytest.raises(ChangeRefused, match="A1 says the same"):
        chain(1).added("  Claim   1. ")


def test_a_cascade_over_a_thousand_assumptions_is_quick() -> None:
    register = chain(1000)
    taken = []
    for _ in range(5):
        began = time.process_time()  # of this process alone: others may be at work on the machine
        after, shaken = register.with_status("A1", "invalidated")
        after.risks()
        taken.append(time.process_time() - began)
        assert len(shaken) == 999
    assert min(taken) < 0.05
