"""What a person can do with a project now, each with a line that explains it; and the words for why one stopped."""

from __future__ import annotations

from dataclasses import dataclass

from forge.pipeline.actions import Action, ActionState, allowed, confirmation
from forge.projects.status import HaltReason, Phase

EDIT = "edit"
"""No button: the person changes a document by hand. Then they retry."""

_REASONS = {
    HaltReason.PLAN_INCOMPLETE: "the plan is not complete enough to build from",
    HaltReason.GUARD_HALLUCINATION: "the findings jumped up after falling",
    HaltReason.GUARD_FABRICATION: "the review seems to invent findings",
    HaltReason.GUARD_MAX_ITERATIONS: "the maximum of rounds is reached",
    HaltReason.HUMAN_TERMINATED: "you terminated it",
    HaltReason.AGENT_FAILURE: "the model gave no usable answer",
    HaltReason.FILE_SYSTEM_ERROR: "files could not be written",
    HaltReason.PHASE3_OUTPUT_MISSING: "nothing was built",
    HaltReason.PHASE3_OUTPUT_INCOMPLETE: "what was built is not complete",
    HaltReason.SERVER_RESTART: "the server was restarted",
    HaltReason.TESTS_CANNOT_RUN: "the tests cannot run",
    HaltReason.GUARD_TESTS: "the tests still do not pass",
    HaltReason.GUARD_NO_CHANGE: "the agent changed nothing",
}
_WORDS_IN = {
    Phase.SPEC_BUILDING: "docs/intent.md",
    Phase.BUILDING: "docs/spec.md",
    Phase.POLISHING: "docs/constraints.md",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """`action` is the action, or `edit`. `document` is what is edited. `confirm` is asked before it happens."""

    action: str
    title: str
    about: str
    confirm: str = ""
    takes_agent: bool = False
    takes_text: bool = False
    document: str = ""


def reason_in_words(halt_reason: str | None) -> str:
    return _REASONS.get(HaltReason(halt_reason), halt_reason) if halt_reason in set(HaltReason) else halt_reason or ""


def offers(state: ActionState) -> tuple[Offer, ...]:
    """In the order in which a person would think of them."""
    found = []
    for action in allowed(state):
        found.append(_offer(state, action))
        if action is Action.RESUME and (document := _WORDS_IN.get(state.halted_in or Phase.HALTED)):
            about = f"Change {document} yourself, then retry: your words count."
            found.append(Offer(EDIT, "Edit the words", about, document=document))
    return tuple(found)


def _offer(state: ActionState, action: Action) -> Offer:
    special = _WITHOUT_TESTS if state.lacks_tests else _DISTILLING if state.halted_in is Phase.DISTILLING else {}
    title, about = special.get(action) or _told(state, action)
    return Offer(
        str(action),
        title,
        about,
        confirmation(state, action),
        takes_agent=action is Action.RESUME,
        takes_text=action in (Action.PROVIDE_INPUT, Action.CORRECT),
    )


_WITHOUT_TESTS = {
    Action.RESUME: ("Retry", "Run the tests again, when you have supplied what is missing."),
    Action.PROVIDE_INPUT: (
        "Set the test command",
        "Give the command that runs the tests; this project keeps it.",
    ),
    Action.OVERRIDE: ("Continue, tests unproven", "Continue without tests. The project will end as “tests unproven”."),
}

_DISTILLING = {
    Action.RESUME: ("Retry", "Try again with the same model, another one, or `builtin`, which sorts by rules."),
    Action.PROVIDE_INPUT: (
        "Edit your words",
        "Say it in other words, or add what was missing; both are distilled together.",
    ),
}


def _told(state: ActionState, action: Action) -> tuple[str, str]:
    halted = state.phase is Phase.HALTED
    match action:
        case Action.DISTILL:
            return "Distill", "Organise what you said into the intent."
        case Action.CONFIRM:
            return "Confirm", "Confirm it and continue with the next phase."
        case Action.PROVIDE_INPUT if halted:
            return "Provide input", "Say what was missing; it tries again with your words."
        case Action.PROVIDE_INPUT:
            return "Provide input", "Answer what the build is stuck on, or let Forge decide."
        case Action.RESUME if state.waiting == "outline":
            return "Write it with a model", "Choose a model. It decides what is open with you, then writes the plan."
        case Action.RESUME:
            return "Retry", "Try again where it stopped, with the same model or another one."
        case Action.OVERRIDE if state.waiting == "gate":
            return "Build anyway", "Build although the plan is not complete."
        case Action.OVERRIDE if state.waiting == "outline":
            return "Accept the outline", "Keep the outline as the result, with its open points."
        case Action.OVERRIDE:
            return "Accept", "Take what there is as final, with everything that is still open in it."
        case Action.TERMINATE:
            return "Terminate", "Stop this project for good. Its files stay."
        case Action.REALIGN:
            return "Realign from here", "Distill again from your last correction."
        case Action.CORRECT:
            return "Say something", "Add to what you said, correct it, or answer."
