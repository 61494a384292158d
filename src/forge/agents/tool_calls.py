"""The calls of one answer: run in order, told to whoever follows, and safe to come to again after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from forge.agents.exchange import Exchange
from forge.agents.steps import Steps
from forge.events import ToolEnded, ToolStarted
from forge.json_value import Json
from forge.sessions.messages import ToolCall, ToolResult
from forge.sessions.redaction import MARK, Redactor
from forge.tools.edits import snapshot
from forge.tools.result_text import capped
from forge.tools.tool import Inquiry
from forge.tools.toolbox import Toolbox

_SHOWN_LINES = 12
_SECRET_TEXT = (
    f"The arguments hold `{MARK}…]`, which stands for a secret that you are not shown. Nothing was changed. "
    "Edit the text around it instead, with a search text that does not include it."
)
_UNANSWERED = "The person gave no answer. Go on with what is most likely meant, and say that you did."


@dataclass(frozen=True, slots=True)
class ToolCalls:
    toolbox: Toolbox
    redactor: Redactor
    interrupt: Callable[[], None]
    exchange: Exchange
    steps: Steps

    async def run(self, call: ToolCall, place: str) -> ToolResult:
        turn = self.exchange.id
        self.steps.emit(ToolStarted(turn, call.id, call.name, self.redactor.text(_about(call))))
        if _has_mark(call.arguments) or self.redactor.is_own(call.arguments):
            text, failed = _SECRET_TEXT, True
        elif self.toolbox.outside(call.name):
            text, failed = await self._outside(call, place)
        else:
            outcome = await asyncio.to_thread(self.toolbox.run, self.exchange.vfs, call.name, call.arguments)
            text, failed = outcome.text, outcome.failed
            if outcome.asks is not None:
                text, failed = await self._inquired(outcome.asks)
        text = self.redactor.text(text)
        self.steps.emit(ToolEnded(turn, call.id, call.name, failed, "\n".join(text.splitlines()[:_SHOWN_LINES])))
        return ToolResult(call.id, call.name, text, failed)

    async def _inquired(self, inquiry: Inquiry) -> tuple[str, bool]:
        """The question and its answer are a step of their own; no model is asked before there is one."""
        choices = tuple(self.redactor.text(choice) for choice in inquiry.choices)
        reply = await self.steps.ask(self.redactor.text(inquiry.question), choices)
        return (_UNANSWERED, True) if reply.text is None else (capped(reply.text), False)

    async def _outside(self, call: ToolCall, place: str) -> tuple[str, bool]:
        """A command is never run again to see what it did: its result and the files it changed are the record."""
        vfs = self.exchange.vfs
        before = snapshot(vfs) if vfs is not None else {}
        ran = False

        async def run() -> Json:
            nonlocal ran
            ran = True
            work = asyncio.create_task(asyncio.to_thread(self.toolbox.run, vfs, call.name, call.arguments))
            try:
                outcome = await asyncio.shield(work)
            except asyncio.CancelledError:
                self.interrupt()
                await asyncio.wait({work})
                raise
            return {"text": self.redactor.text(outcome.text), "failed": outcome.failed}

        done = await self.exchange.keeping_changes(self.steps, place, run)
        if not ran:
            self.toolbox.applied(vfs, before, by=call.name)
        return done["text"], done["failed"]


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
    told = ("path", "command", "query", "pattern", "prefix", "old_path", "name", "question", "contract_type")
    found = next((call.arguments[name] for name in told if isinstance(call.arguments.get(name), str)), "")
    return " ".join(found.split())[:120]
