"""Waiting for a person: the project says why it stopped, keeps its place, and continues with what they decide."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forge.pipeline.actions import STOPPED
from forge.projects.info import Waiting, WaitKind
from forge.projects.status import HaltReason, Phase
from forge.question_kinds import QuestionKind
from forge.tools.suites.outcome import named_few

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey
    from forge.plugins.roles import Stuck

LEFT_TO_FORGE = "(left to Forge)"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person wants: `input` (with text), `resume`, `override` or `terminate`."""

    action: str
    text: str = ""
    delegated: bool = False
    """The person leaves what was asked to the agent, which decides it and says why."""

    def to_text(self) -> str:
        """As it travels through the engine's answers."""
        return json.dumps({"action": self.action, "text": self.text, "delegated": self.delegated})

    def given(self, question: str) -> Json:
        """As builders are told it."""
        return {"question": question, "answer": self.text, **({"delegated": True} if self.delegated else {})}


async def stuck(journey: Journey, reason: str, needs: Stuck | None = None) -> Decision:
    """The work cannot continue without an answer. The phase stays as it is."""

    def wait(draft: Draft) -> None:
        draft.info = replace(draft.info, waiting=_waiting(reason, needs))
        draft.say(f"I need your decision before I can continue: {reason}{_details(needs)}")

    await journey.change(wait, "build: waits for input", event_type="human_needed", summary=reason)
    return await _decided(journey, reason, ("input", "terminate"), _going_on, asked=reason)


def _waiting(reason: str, needs: Stuck | None) -> Waiting:
    if needs is None:
        return Waiting("stuck", reason)
    explanation = needs.explanation or None
    return Waiting("stuck", reason, None, str(needs.cause), needs.options, needs.tests, explanation)


def _details(needs: Stuck | None) -> str:
    """What a person should know before they answer, a paragraph each."""
    if needs is None:
        return ""
    options = "".join(f"\n{number}. {option}" for number, option in enumerate(needs.options, 1))
    parts = [
        f"Tests: {named_few(needs.tests)}." if needs.tests else "",
        f"The agent says: {needs.explanation}" if needs.explanation else "",
        f"Options:{options}" if options else "",
    ]
    return "".join(f"\n\n{part}" for part in parts if part)


async def halted(
    journey: Journey, why: HaltReason, reason: str, *, guard: bool = False, keeps_input: bool = True
) -> Decision:
    """Stopped, but not over: the place in the queue is kept until a person decides. With `keeps_input`, builders are
    told what the person said.
    """
    kind: WaitKind = "gate" if why is HaltReason.PLAN_INCOMPLETE else "halted"

    def halt(draft: Draft) -> None:
        draft.info = replace(draft.info, waiting=Waiting(kind, reason))
        draft.move(Phase.HALTED, halt_reason=why)
        draft.say(f"Stopped: {reason}")

    journey.project.log.write("warn" if guard else "error", "halt", str(journey.phase), f"{why}: {reason}")
    event_type = "guard_triggered" if guard else "error"
    await journey.change(halt, f"halted: {why}", event_type=event_type, summary=reason)
    asked = reason if keeps_input else None
    return await _decided(journey, reason, ("resume", "input", "override", "terminate"), _back, asked=asked)


def _going_on(draft: Draft) -> None:
    draft.info = replace(draft.info, waiting=None)


def _back(draft: Draft) -> None:
    """To the phase in which it was halted."""
    draft.info = replace(draft.info, waiting=None)
    assert draft.info.halted_in is not None
    draft.move(draft.info.halted_in)


async def _decided(
    journey: Journey, text: str, options: tuple[str, ...], go_on: Callable[[Draft], None], *, asked: str | None
) -> Decision:
    reply = await journey.steps.ask(text, options, kind=QuestionKind.DECISION)
    decision = Decision(**json.loads(reply.text)) if reply.how == "answered" and reply.text else Decision("terminate")
    match decision.action:
        case "terminate":
            journey.project.log.write("info", "halt", str(journey.phase), "human_terminated: by a person")
            await journey.change(terminated, "terminated by a person", event_type="error", summary="Terminated.")
        case "override" | "resume" | "input":

            def write(draft: Draft) -> None:
                go_on(draft)
                if decision.text or decision.delegated:
                    draft.say(decision.text or LEFT_TO_FORGE, "human")
                if decision.action == "input" and asked is not None:
                    draft.info = replace(draft.info, inputs=(*draft.info.inputs, decision.given(asked)))

            await journey.change(write, f"{decision.action}: by a person")
            await journey.renew()
    return decision


def terminated(draft: Draft) -> None:
    """For good: nothing continues from here."""
    draft.info = replace(draft.info, waiting=None, terminated=True)
    draft.move(Phase.HALTED, halt_reason=HaltReason.HUMAN_TERMINATED)
    draft.say(STOPPED)
