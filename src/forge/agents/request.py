"""One request of a loop to its model: a step that is recorded and paid once, with its answer streamed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from forge.agents.answer_text import AnswerText
from forge.agents.errors import LimitReached
from forge.agents.exchange import Exchange
from forge.agents.limit_check import Spent, check
from forge.agents.model import Model, Prompt
from forge.agents.models.sealed import without_secrets
from forge.agents.relay.journal import Journal
from forge.agents.steps import Steps, key
from forge.errors import ForgeError
from forge.events import ModelAnswered
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Usage, from_json, to_json, usage_from_json
from forge.sessions.redaction import Redactor
from forge.settings import CostLimits

Paid = Callable[[str, AssistantMessage], None]
# As turns are recorded, so that one that began under an older release continues.
_LIMITED, _FAILED = "limited", "failed"


class Unanswered(Exception):
    """There is no answer, and asking again will not help."""

    def __init__(self, reason: str, *, limited: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.limited = limited


@dataclass(frozen=True, slots=True)
class Request:
    model: Model
    journal: Journal
    redactor: Redactor
    limits: CostLimits
    spent: Callable[[Usage], Spent]
    paid: Paid
    exchange: Exchange
    steps: Steps

    async def answer(self, prompt: Prompt, number: int) -> AssistantMessage:
        name = f"model {number}"
        place = key(self.steps, name)

        async def ask() -> Json:
            return await self._asked(prompt, number, place)

        done = await self.steps.step(name, ask)
        if "stopped" in done:
            await asyncio.to_thread(self._pay_in_vain, place, usage_from_json(done.get("usage", {})))
            raise Unanswered(done["reason"], limited=done["stopped"] == _LIMITED)
        answer = from_json(done["answer"])
        assert isinstance(answer, AssistantMessage)
        # After the step, so that nothing stands between an answer and its record; counted once however often it runs.
        await asyncio.to_thread(self.paid, place, answer)
        self._tell(answer, number)
        return answer

    async def _asked(self, prompt: Prompt, number: int, place: str) -> Json:
        exchange = self.exchange
        # A retry is one more request: it does not go beyond the limits either.
        text = AnswerText(
            exchange.id,
            self.steps,
            self.redactor,
            self.model.name,
            number,
            check=lambda taken: check(self.limits, self.spent(exchange.usage + taken)),
        )
        try:
            check(self.limits, await asyncio.to_thread(self.spent, exchange.usage))
            with self.journal.page(self.steps.id, place).opened():
                answer = await self.model.answer(prompt, on_text=text)
        except asyncio.CancelledError:
            exchange.unfinished = text.broken_off()
            await asyncio.to_thread(self._pay_in_vain, place, text.lost)
            raise
        except ForgeError as e:
            exchange.unfinished = text.broken_off()
            stopped = _LIMITED if isinstance(e, LimitReached) else _FAILED
            reason = self.redactor.text(f"{e.message} {e.hint}".strip())
            return {"stopped": stopped, "reason": reason, "usage": asdict(text.lost)}
        text.end()
        return {"answer": to_json(_recorded(self.redactor, answer))}

    def _pay_in_vain(self, place: str, usage: Usage) -> None:
        """Requests that gave no answer were made all the same, and may have their price."""
        if usage.requests:
            self.exchange.usage += usage
            self.paid(f"{place} without an answer", AssistantMessage("", model=self.model.name, usage=usage))

    def _tell(self, answer: AssistantMessage, number: int) -> None:
        used, called = answer.usage, tuple(call.name for call in answer.calls)
        self.steps.emit(
            ModelAnswered(
                self.exchange.id,
                self.redactor.text(answer.text),
                called,
                used.input_tokens,
                used.output_tokens,
                used.cache_read_tokens,
                used.cost,
                number,
            )
        )


def shown(redactor: Redactor, answer: AssistantMessage) -> AssistantMessage:
    """An answer as it is kept and sent back: with nothing secret in it."""
    calls = tuple(replace(call, arguments=redactor.json(call.arguments)) for call in answer.calls)
    opaque = without_secrets(answer.opaque, redactor.text)
    return replace(answer, text=redactor.text(answer.text), calls=calls, opaque=opaque)


def _recorded(redactor: Redactor, answer: AssistantMessage) -> AssistantMessage:
    """An answer as the run continues with it: what only looks like a secret in a call, its tool has to be given."""
    safe = shown(redactor, answer)
    both = zip(answer.calls, safe.calls, strict=True)
    return replace(safe, calls=tuple(kept if redactor.is_own(call.arguments) else call for call, kept in both))
