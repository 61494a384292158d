"""The actions on a project as a state machine: what is possible now, what has to be confirmed, and what follows.

An action that has had its effect already is a duplicate: it changes nothing and gets the state as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from forge.counts import counted
from forge.projects.status import HaltReason, Phase

Waiting = Literal["stuck", "halted", "gate", "outline"]
"""For what a person is needed: the builder is stuck, a run was halted, a plan is too incomplete to build from, or there
is an outline that a model could write.
"""


class Action(StrEnum):
    DISTILL = "distill"
    CONFIRM = "confirm"
    PROVIDE_INPUT = "provide_input"
    RESUME = "resume"
    OVERRIDE = "override"
    TERMINATE = "terminate"
    CORRECT = "correct"
    """Say something: more of the brain dump, a correction, an answer."""
    REALIGN = "realign"


@dataclass(frozen=True, slots=True)
class ActionState:
    """All that decides which actions are possible. `busy` means that Forge is working and waits for nobody."""

    phase: Phase
    halt_reason: str | None = None
    halted_in: Phase | None = None
    stuck: bool = False
    busy: bool = False
    unresolved: int = 0
    rounds: int = 0
    """Finished rounds of polishing."""
    outline: bool = False
    """What was delivered is an outline: no model wrote it."""

    @property
    def ended(self) -> bool:
        terminated = self.phase is Phase.HALTED and self.halt_reason == HaltReason.HUMAN_TERMINATED
        return self.phase is Phase.DONE or terminated

    @property
    def lacks_tests(self) -> bool:
        """Halted because tests cannot run: a person supplies what is missing, or continues without."""
        return self.phase is Phase.HALTED and self.halt_reason == HaltReason.TESTS_CANNOT_RUN

    @property
    def waiting(self) -> Waiting | None:
        if self.ended or self.busy:
            return None
        if self.phase is Phase.HALTED and self.outline:
            return "outline"
        if self.phase is Phase.HALTED:
            return "gate" if self.halt_reason == HaltReason.PLAN_INCOMPLETE else "halted"
        return "stuck" if self.phase in {Phase.BUILDING, Phase.POLISHING} and self.stuck else None


@dataclass(frozen=True, slots=True)
class EarlierAction:
    """The last action that was accepted. A face gives each button that it shows one id."""

    action: Action
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """Go to phase `to` (often the present one) and tell `message` in the chat."""

    action: Action
    to: Phase
    message: str = ""
    halt_reason: HaltReason | None = None
    clears_chat: bool = False


@dataclass(frozen=True, slots=True)
class Duplicate:
    """It has happened already."""


@dataclass(frozen=True, slots=True)
class NeedsConfirmation:
    question: str


@dataclass(frozen=True, slots=True)
class RefusedAction:
    reason: str
    allowed: tuple[Action, ...]


Decision = Accepted | Duplicate | NeedsConfirmation | RefusedAction

ACCEPTED = "The deliverable is accepted. The project is done."
STOPPED = "The project was stopped for good."
_STOP = "Stop this project for good? It cannot be taken up again."
_ACCEPT = "Take the deliverable as it is now, with everything that is still open in it?"
_ACCEPT_OUTLINE = "Keep the outline as the result? Its open points stay open."
_BUILD_ANYWAY = "Build although the plan is not complete?"
_GO_ON_UNPROVEN = "Continue although the tests cannot run? The project will end as “tests unproven”."
_BUTTONS = frozenset({Action.DISTILL, Action.CONFIRM, Action.RESUME, Action.OVERRIDE, Action.TERMINATE})
"""Pressing one of these again says nothing new. The others carry words, which are never dropped as a repetition."""


def decide(
    state: ActionState,
    action: Action,
    *,
    confirmed: bool = False,
    last: EarlierAction | None = None,
    action_id: str | None = None,
) -> Decision:
    """What `action` does in `state`. `last` is the action that was accepted before this one."""
    again = last is not None and last.action is action
    if again and last is not None and action_id is not None and action_id == last.id:
        return Duplicate()
    if action not in allowed(state):
        if _in_effect(state, action) or (again and action in _BUTTONS and not _blocked(state, action)):
            return Duplicate()
        return RefusedAction(_reason(state, action), allowed(state))
    question = confirmation(state, action)
    if question and not confirmed:
        return NeedsConfirmation(question)
    return _effect(state, action)


def allowed(state: ActionState) -> tuple[Action, ...]:
    """The actions that are possible now. A person can stop a project at any time, whatever Forge is doing with it."""
    return () if state.ended else (*_forward(state), Action.TERMINATE)


def _forward(state: ActionState) -> tuple[Action, ...]:
    if state.busy:
        return ()
    match state.waiting, state.phase:
        case "stuck", _:
            return (Action.PROVIDE_INPUT,)
        case "gate", _:
            return (Action.OVERRIDE,)
        case "outline", _:
            return (Action.RESUME, Action.OVERRIDE)
        case "halted", _:
            back = (Action.RESUME, Action.PROVIDE_INPUT) if _resumed(state) else ()
            overrides = _resumed(state) is Phase.POLISHING or (back and state.lacks_tests)
            return (*back, Action.OVERRIDE) if overrides else back
        case _, Phase.BRAIN_DUMP:
            return (Action.DISTILL, Action.CORRECT)
        case _, Phase.HUMAN_REVIEW:
            return (Action.CONFIRM, Action.CORRECT, Action.REALIGN)
        case _, Phase.SPEC_BUILDING:
            return (Action.CORRECT,) if state.unresolved else (Action.CONFIRM, Action.CORRECT)
    return ()


def confirmation(state: ActionState, action: Action) -> str:
    """What a person is asked before it happens; empty where nothing is asked."""
    if action is Action.TERMINATE:
        return _STOP
    if action is Action.OVERRIDE and state.lacks_tests:
        return _GO_ON_UNPROVEN
    if action is Action.OVERRIDE:
        return {"gate": _BUILD_ANYWAY, "outline": _ACCEPT_OUTLINE}.get(state.waiting or "", _ACCEPT)
    return ""


def _effect(state: ActionState, action: Action) -> Accepted:
    match action, state.phase:
        case Action.DISTILL, _:
            return Accepted(action, Phase.DISTILLING, "Distilling…")
        case Action.CONFIRM, Phase.HUMAN_REVIEW:
            told = "The intent is locked. Next comes the specification."
            return Accepted(action, Phase.SPEC_BUILDING, told, clears_chat=True)
        case Action.CONFIRM, _:
            told = "Specification and constraints are locked. Building begins."
            return Accepted(action, Phase.BUILDING, told, clears_chat=True)
        case ((Action.CORRECT | Action.REALIGN), Phase.HUMAN_REVIEW):
            return Accepted(action, Phase.DISTILLING)
        case Action.RESUME, _ if state.outline:
            told = "A model continues from the outline and settles the open points first."
            return Accepted(action, Phase.SPEC_BUILDING, told)
        case ((Action.RESUME | Action.PROVIDE_INPUT), Phase.HALTED):
            back = _resumed(state) or state.phase
            polishing = f"Polishing continues with round {state.rounds + 1}."
            return Accepted(action, back, polishing if back is Phase.POLISHING else f"Continuing with {_words(back)}.")
        case Action.OVERRIDE, _ if state.lacks_tests:
            return Accepted(action, _resumed(state) or state.phase, "Continuing; the tests stay unproven.")
        case Action.OVERRIDE, _ if state.waiting == "gate":
            return Accepted(action, Phase.BUILDING, "Continuing with an incomplete plan. Building begins.")
        case Action.OVERRIDE, _ if state.outline:
            return Accepted(action, Phase.DONE, "The outline is kept as the result. Its open points stay open.")
        case Action.OVERRIDE, _:
            return Accepted(action, Phase.DONE, ACCEPTED)
        case Action.TERMINATE, _:
            return Accepted(action, Phase.HALTED, STOPPED, HaltReason.HUMAN_TERMINATED)
    return Accepted(action, state.phase)


def _resumed(state: ActionState) -> Phase | None:
    """Where a halted project continues. Guards halt only what is being polished, whatever else is known."""
    if state.outline:
        return Phase.SPEC_BUILDING
    if (state.halt_reason or "").startswith("guard_"):
        return Phase.POLISHING
    if (state.halt_reason or "").startswith("phase3_"):
        return Phase.BUILDING
    return state.halted_in if state.halted_in not in {Phase.HALTED, Phase.DONE} else None


def _in_effect(state: ActionState, action: Action) -> bool:
    """Whether `state` is already what `action` leads to, however it got there."""
    return (action is Action.DISTILL and state.phase is Phase.DISTILLING) or (
        action is Action.TERMINATE and state.ended and state.phase is Phase.HALTED
    )


def _blocked(state: ActionState, action: Action) -> bool:
    """Whether `action` is meant for this state and only something in it is missing."""
    return action is Action.CONFIRM and state.phase is Phase.SPEC_BUILDING and state.unresolved > 0 and not state.busy


def _reason(state: ActionState, action: Action) -> str:
    if state.ended:
        return "The project is done." if state.phase is Phase.DONE else STOPPED
    if state.busy:
        return f"Forge works on it ({_words(state.phase)}). Wait until it is done."
    if _blocked(state, action):
        questions = counted(state.unresolved, "question is", "questions are")
        return f"{questions} still open. Answer before confirming."
    return f"“{_words(action)}” does nothing while the project is in this state: {_words(state.phase)}."


def _words(name: str) -> str:
    return name.replace("_", " ")
