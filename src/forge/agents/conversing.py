"""Model ⇄ tools: ask, run what the model calls for, show it the results, until it calls for nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from forge.agents.desk import Desk, Stopped
from forge.agents.errors import LimitReached
from forge.agents.hearing import Heard
from forge.agents.model import Model, Prompt
from forge.agents.models.sealed import without_secrets
from forge.agents.relay.journal import Journal
from forge.agents.spending import Spent, check
from forge.agents.steps import Steps
from forge.agents.stream import Stream
from forge.errors import ForgeError
from forge.events import ContextCompacted, ModelAnswered, ToolEnded, ToolStarted
from forge.sessions.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    Usage,
    from_json,
    to_json,
    usage_from_json,
)
from forge.sessions.redaction import MARK, Redactor
from forge.sessions.turns import Item, TurnStatus
from forge.settings import Limits
from forge.tools.contract import Inquiry
from forge.tools.edits import snapshot
from forge.tools.rendering import capped
from forge.tools.toolbox import Toolbox

Json = dict[str, Any]
_SHOWN_LINES = 12
# Calls that differ in nothing and fail in the same way: a model that does this is stuck.
_SAME_FAILURES = 5
_SECRET_TEXT = (
    f"The arguments hold `{MARK}…]`, which stands for a secret that you are not shown. Nothing was changed. "
    "Edit the text around it instead, with a search text that does not include it."
)
_UNANSWERED = "The person gave no answer. Go on with what is most likely meant, and say that you did."


@dataclass(frozen=True, slots=True)
class Conversation:
    """A model with its instructions, its tools, and what it may cost."""

    model: Model
    system: str
    toolbox: Toolbox
    stream: Stream
    redactor: Redactor
    limits: Limits
    spent: Callable[[Usage], Spent]
    """What was spent so far, given what this turn has taken."""
    paid: Callable[[str, AssistantMessage], None]
    """Told of each answer, at least once: its cost counts even if the turn is never finished."""
    interrupt: Callable[[], None]
    """Ends a command that is running, when the turn is cancelled."""
    journal: Journal
    """Where an answer is from its first piece until it is on record."""

    async def __call__(self, desk: Desk, steps: Steps) -> None:
        """Fill the desk until the model has nothing more to do; `Stopped` where it ends without that."""
        sent = list(self.stream.messages(desk.past, desk.items))
        failures: list[tuple[str, str]] = []
        number = 0
        while True:
            number += 1
            sent = self._fitting(desk, steps, sent)
            answer = await self._asked(desk, steps, sent, number)
            _add(desk, sent, _shown(self.redactor, answer))
            desk.usage = desk.usage + answer.usage
            if not answer.calls:
                return
            for place, call in enumerate(answer.calls, 1):
                result = await self._used(desk, steps, call, f"tool {number}.{place}")
                _add(desk, sent, result)
                failures = [*failures, (f"{call.name} {call.arguments}", result.text)] if result.failed else []
                if len(failures) >= _SAME_FAILURES and len(set(failures[-_SAME_FAILURES:])) == 1:
                    raise Stopped(TurnStatus.FAILED, f"The model called {call.name} {_SAME_FAILURES} times in vain.")
            self._bring_in(desk, sent)

    def _bring_in(self, desk: Desk, sent: list[Message]) -> None:
        """Show files that a tool took into the context at once, not only in the next turn."""
        added = self.stream.brought_in(desk.vfs, desk.seen)
        desk.items += added.items
        sent += added.messages
        desk.seen = added.seen

    def _fitting(self, desk: Desk, steps: Steps, sent: list[Message]) -> list[Message]:
        """Begin the stream anew when the window fills; what was said stays in the session as it is."""
        if not self.stream.is_full(sent):
            return sent
        anew = self.stream.anew(desk.vfs, desk.past, desk.items)
        desk.items += anew.items
        desk.seen = anew.seen
        fitted = list(anew.messages)
        steps.emit(ContextCompacted(desk.turn, self.stream.tokens(sent), self.stream.tokens(fitted)))
        return fitted

    async def _asked(self, desk: Desk, steps: Steps, sent: list[Message], number: int) -> AssistantMessage:
        prompt = Prompt(self.system, self.toolbox.schemas(), tuple(sent))
        # A retry is one more request: it does not go beyond the limits either.
        heard = Heard(
            desk,
            steps,
            self.redactor,
            self.model.name,
            number,
            check=lambda spent: check(self.limits, self.spent(desk.usage + spent)),
        )
        page = self.journal.page(steps.id, f"model {number}")

        async def ask() -> Json:
            try:
                check(self.limits, await asyncio.to_thread(self.spent, desk.usage))
                with page.opened():
                    answer = await self.model.answer(prompt, on_text=heard)
            except asyncio.CancelledError:
                heard.broken_off()
                await asyncio.to_thread(self._pay_in_vain, desk, number, heard.lost)
                raise
            except ForgeError as e:
                heard.broken_off()
                status = TurnStatus.LIMITED if isinstance(e, LimitReached) else TurnStatus.FAILED
                reason = self.redactor.text(f"{e.message} {e.hint}".strip())
                return {"stopped": status, "reason": reason, "usage": asdict(heard.lost)}
            heard.end()
            return {"answer": to_json(_recorded(self.redactor, answer))}

        done = await steps.step(f"model {number}", ask)
        if "stopped" in done:
            await asyncio.to_thread(self._pay_in_vain, desk, number, usage_from_json(done.get("usage", {})))
            raise Stopped(TurnStatus(done["stopped"]), done["reason"])
        answer = from_json(done["answer"])
        assert isinstance(answer, AssistantMessage)
        # After the step, so that nothing stands between an answer and its record; counted once however often it runs.
        await asyncio.to_thread(self.paid, f"model {number}", answer)
        used, called = answer.usage, tuple(call.name for call in answer.calls)
        steps.emit(
            ModelAnswered(
                desk.turn,
                self.redactor.text(answer.text),
                called,
                used.input_tokens,
                used.output_tokens,
                used.cache_read_tokens,
                used.cost,
                number,
            )
        )
        return answer

    def _pay_in_vain(self, desk: Desk, number: int, usage: Usage) -> None:
        """Requests that gave no answer were made all the same, and may have their price."""
        if usage.requests:
            desk.usage = desk.usage + usage
            self.paid(f"model {number} without an answer", AssistantMessage("", model=self.model.name, usage=usage))

    async def _used(self, desk: Desk, steps: Steps, call: ToolCall, place: str) -> ToolResult:
        steps.emit(ToolStarted(desk.turn, call.id, call.name, self.redactor.text(_about(call))))
        if _has_mark(call.arguments) or self.redactor.is_own(call.arguments):
            text, failed = _SECRET_TEXT, True
        elif self.toolbox.outside(call.name):
            text, failed = await self._outside(desk, steps, call, place)
        else:
            outcome = await asyncio.to_thread(self.toolbox.run, desk.vfs, call.name, call.arguments)
            text, failed = outcome.text, outcome.failed
            if outcome.asks is not None:
                text, failed = await self._inquired(steps, outcome.asks)
        text = self.redactor.text(text)
        steps.emit(ToolEnded(desk.turn, call.id, call.name, failed, "\n".join(text.splitlines()[:_SHOWN_LINES])))
        return ToolResult(call.id, call.name, text, failed)

    async def _inquired(self, steps: Steps, inquiry: Inquiry) -> tuple[str, bool]:
        """The question and its answer are a step of their own; no model is asked before there is one."""
        choices = tuple(self.redactor.text(choice) for choice in inquiry.choices)
        reply = await steps.ask(self.redactor.text(inquiry.question), choices)
        return (_UNANSWERED, True) if reply.text is None else (capped(reply.text), False)

    async def _outside(self, desk: Desk, steps: Steps, call: ToolCall, place: str) -> tuple[str, bool]:
        """A command is never run again to see what it did: its result and the files it changed are the record."""
        before = snapshot(desk.vfs)
        ran = False

        async def run() -> Json:
            nonlocal ran
            ran = True
            work = asyncio.create_task(asyncio.to_thread(self.toolbox.run, desk.vfs, call.name, call.arguments))
            try:
                outcome = await asyncio.shield(work)
            except asyncio.CancelledError:
                self.interrupt()
                await asyncio.wait({work})
                raise
            return {"text": self.redactor.text(outcome.text), "failed": outcome.failed}

        done = await desk.keeping_changes(steps, place, run)
        if not ran:
            self.toolbox.applied(desk.vfs, before, by=call.name)
        return done["text"], done["failed"]


def _add(desk: Desk, sent: list[Message], message: AssistantMessage | ToolResult) -> None:
    item: Item = message
    desk.items.append(item)
    sent.append(message)


def _shown(redactor: Redactor, answer: AssistantMessage) -> AssistantMessage:
    """An answer as it is kept and sent back: with nothing secret in it."""
    calls = tuple(replace(call, arguments=redactor.json(call.arguments)) for call in answer.calls)
    opaque = without_secrets(answer.opaque, redactor.text)
    return replace(answer, text=redactor.text(answer.text), calls=calls, opaque=opaque)


def _recorded(redactor: Redactor, answer: AssistantMessage) -> AssistantMessage:
    """An answer as the run goes on with it: what only looks like a secret in a call, its tool has to be given."""
    shown = _shown(redactor, answer)
    both = zip(answer.calls, shown.calls, strict=True)
    return replace(shown, calls=tuple(safe if redactor.is_own(call.arguments) else call for call, safe in both))


def _has_mark(value: object) -> bool:
    match value:
        case str():
            return MARK in value
        case dict():
            return any(map(_has_mark, value.values()))
        case list():
            return any(map(_has_mark, value))
    return False


def _about(call: ToolCall) -> str:
    """The one argument that tells most."""
    told = ("path", "command", "query", "pattern", "prefix", "old_path", "name", "question")
    found = next((call.arguments[name] for name in told if isinstance(call.arguments.get(name), str)), "")
    return " ".join(found.split())[:120]
