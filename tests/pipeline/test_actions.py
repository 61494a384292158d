"""Buttons: every state and every action against a table that was written by itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from forge.pipeline.actions import (
    Accepted,
    Action,
    ActionState,
    Decision,
    Duplicate,
    EarlierAction,
    NeedsConfirmation,
    RefusedAction,
    allowed,
    decide,
)
from forge.projects.status import HaltReason, Phase, fresh
from forge.projects.status import allowed as legal

pytestmark = pytest.mark.req("P-12")

REASONS = (None, *HaltReason, "something_new")
STATES = [
    ActionState(phase, reason, halted_in, stuck, busy, unresolved, 7, outline)
    for phase, reason, halted_in, stuck, busy, unresolved, outline in product(
        Phase, REASONS, (None, *Phase), (False, True), (False, True), (0, 1, 3), (False, True)
    )
    if (phase is Phase.HALTED) == (reason is not None)
    if not outline or (reason == HaltReason.PHASE3_OUTPUT_INCOMPLETE and halted_in is Phase.SPEC_BUILDING)
]

# (state, action) → where it leads; "…" stands for the phase that it was halted in. What is not here is refused.
WORKS = """
brain_dump          distill        distilling
brain_dump          correct        brain_dump
human_review        confirm        spec_building
human_review        correct        distilling
human_review        realign        distilling
spec_building       confirm        building
spec_building       correct        spec_building
spec_building/open  correct        spec_building
building/stuck      provide_input  building
polishing/stuck     provide_input  polishing
halted/gate         override       building
halted/outline      resume         spec_building
halted/outline      override       done
halted/polishing    resume         polishing
halted/polishing    provide_input  polishing
halted/polishing    override       done
halted/tests        resume         …
halted/tests        provide_input  …
halted/tests        override       …
halted/elsewhere    resume         …
halted/elsewhere    provide_input  …
"""
TABLE = {(line.split()[0], line.split()[1]): line.split()[2] for line in WORKS.strip().splitlines()}


def kind_of(state: ActionState) -> str:
    """The first column."""
    if state.phase == "done" or state.halt_reason == "human_terminated":
        return "ended"
    if state.busy:
        return "busy"
    if state.phase == "halted":
        if state.outline:
            return "halted/outline"
        if state.halt_reason == "plan_incomplete":
            return "halted/gate"
        if (state.halt_reason or "").startswith("guard_"):
            return "halted/polishing"
        if state.halt_reason in {"phase3_output_missing", "phase3_output_incomplete"}:
            return "halted/elsewhere"
        if state.halted_in in {None, "halted", "done"}:
            return "halted/nowhere"
        if state.halt_reason == "tests_cannot_run":
            return "halted/tests"
        return "halted/polishing" if state.halted_in == "polishing" else "halted/elsewhere"
    if state.phase in {"building", "polishing"} and state.stuck:
        return f"{state.phase}/stuck"
    return "spec_building/open" if state.phase == "spec_building" and state.unresolved else str(state.phase)


def leads_to(state: ActionState, action: Action) -> str | None:
    kind = kind_of(state)
    if action == "terminate":
        return None if kind == "ended" else "halted"
    to = TABLE.get((kind, str(action)))
    if to == "…":
        return "building" if str(state.halt_reason).startswith("phase3") else str(state.halted_in)
    return to


def test_exactly_what_the_table_says_is_accepted_in_every_state() -> None:
    assert len(STATES) > 1000
    for state, action in product(STATES, Action):
        decision = decide(state, action, confirmed=True)
        to = leads_to(state, action)
        if to is None:
            assert isinstance(decision, RefusedAction | Duplicate), (state, action)
            assert action not in allowed(state)
        else:
            assert isinstance(decision, Accepted), (state, action)
            assert (decision.to, action in allowed(state)) == (to, True)
            assert (decision.halt_reason == "human_terminated") is (action == "terminate")


def test_what_has_ended_has_no_buttons() -> None:
    ended = [state for state in STATES if state.ended]
    assert {(s.phase, s.halt_reason) for s in ended} == {("done", None), ("halted", "human_terminated")}
    assert all(allowed(state) == () for state in ended)


def test_only_terminate_and_override_ask_before_they_act() -> None:
    for state, action in product(STATES, Action):
        asked = decide(state, action)
        if leads_to(state, action) is not None:
            assert isinstance(asked, NeedsConfirmation) is (action in {Action.TERMINATE, Action.OVERRIDE})


def test_a_refusal_names_what_can_be_done() -> None:
    for state, action in product(STATES, Action):
        decision = decide(state, action, confirmed=True)
        if isinstance(decision, RefusedAction):
            assert decision.allowed == allowed(state)
            assert decision.reason.endswith(".")


def test_every_move_is_one_that_the_status_allows() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for state, action in product(STATES, Action):
        decision = decide(state, action, confirmed=True)
        if not isinstance(decision, Accepted) or decision.to == state.phase != Phase.HALTED:
            continue
        halted_in = state.halted_in
        if state.phase is Phase.HALTED and decision.to in {Phase.BUILDING, Phase.POLISHING}:
            halted_in = decision.to
        status = replace(fresh(agent="", now=moment), phase=state.phase, halt_reason=state.halt_reason)
        assert decision.to in legal(status, halted_in=halted_in), (state, action)


def test_the_same_press_again_is_a_duplicate_in_every_state() -> None:
    for state, action in product(STATES, Action):
        assert decide(state, action, confirmed=True, last=EarlierAction(action, "7"), action_id="7") == Duplicate()


def test_a_button_whose_effect_has_happened_is_a_duplicate() -> None:
    def again(state: ActionState, action: Action) -> Decision:
        return decide(state, action, confirmed=True, last=EarlierAction(action, "1"), action_id="2")

    assert again(ActionState(Phase.DISTILLING, busy=True), Action.DISTILL) == Duplicate()
    assert again(ActionState(Phase.HUMAN_REVIEW), Action.DISTILL) == Duplicate()
    assert again(ActionState(Phase.SPEC_BUILDING, busy=True), Action.CONFIRM) == Duplicate()
    assert again(ActionState(Phase.BUILDING, busy=True), Action.CONFIRM) == Duplicate()
    assert again(ActionState(Phase.POLISHING, busy=True), Action.RESUME) == Duplicate()
    assert again(ActionState(Phase.DONE), Action.OVERRIDE) == Duplicate()
    assert again(ActionState(Phase.HALTED, "human_terminated"), Action.TERMINATE) == Duplicate()


def test_distilling_twice_and_stopping_twice_are_duplicates_whoever_did_it_first() -> None:
    assert decide(ActionState(Phase.DISTILLING, busy=True), Action.DISTILL) == Duplicate()
    assert decide(ActionState(Phase.HALTED, "human_terminated"), Action.TERMINATE) == Duplicate()
    assert isinstance(decide(ActionState(Phase.DONE), Action.TERMINATE), RefusedAction)


def test_the_second_confirm_is_a_press_of_its_own() -> None:
    ready = ActionState(Phase.SPEC_BUILDING)
    decision = decide(ready, Action.CONFIRM, last=EarlierAction(Action.CONFIRM, "1"), action_id="2")
    assert isinstance(decision, Accepted)
    assert decision.to is Phase.BUILDING


@pytest.mark.parametrize("action", [Action.CORRECT, Action.PROVIDE_INPUT, Action.REALIGN])
def test_words_are_never_dropped_as_a_repetition(action: Action) -> None:
    busy = ActionState(Phase.BUILDING, busy=True)
    assert isinstance(decide(busy, action, last=EarlierAction(action, "1"), action_id="2"), RefusedAction)
    assert isinstance(decide(busy, action, last=EarlierAction(action)), RefusedAction)


@pytest.mark.req("P-05")
@pytest.mark.parametrize(("unresolved", "told"), [(1, "1 question is"), (3, "3 questions are")])
def test_the_specification_is_not_confirmed_while_something_is_open(unresolved: int, told: str) -> None:
    state = ActionState(Phase.SPEC_BUILDING, unresolved=unresolved)
    for last in (None, EarlierAction(Action.CONFIRM, "1")):
        decision = decide(state, Action.CONFIRM, last=last, action_id="2")
        assert isinstance(decision, RefusedAction)
        assert told in decision.reason
        assert decision.allowed == (Action.CORRECT, Action.TERMINATE)


def test_confirming_clears_the_chat_and_nothing_else_does() -> None:
    for state, action in product(STATES, Action):
        decision = decide(state, action, confirmed=True)
        if isinstance(decision, Accepted):
            assert decision.clears_chat is (action is Action.CONFIRM)


def test_what_is_told_names_the_next_round_or_phase() -> None:
    def told(state: ActionState, action: Action) -> str:
        decision = decide(state, action, confirmed=True)
        assert isinstance(decision, Accepted)
        return decision.message

    assert (
        told(ActionState(Phase.HALTED, "guard_fabrication", rounds=7), Action.RESUME)
        == "Polishing continues with round 8."
    )
    assert "spec building" in told(ActionState(Phase.HALTED, "agent_failure", Phase.SPEC_BUILDING), Action.RESUME)
    assert "incomplete plan" in told(ActionState(Phase.HALTED, "plan_incomplete"), Action.OVERRIDE)
