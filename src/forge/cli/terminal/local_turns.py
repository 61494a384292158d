"""Turns of a conversation that this process carries out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from forge.app import questions
from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import id_of, subject_of
from forge.app.sessions import messages
from forge.app.sessions.answerer import answering
from forge.app.sessions.messages import SentMessage
from forge.app.sessions.turn_end import TurnEnd
from forge.cli.terminal.turns import CancelledTurn, ConversationPlace, StartedTurn
from forge.events import Event, QuestionAsked


class LocalTurns:
    def __init__(self, shop: Workshop, place: ConversationPlace) -> None:
        self._shop = shop
        self._place = place

    @property
    def server(self) -> int | None:
        return None

    def answering(self) -> str:
        return answering(self._shop.settings, self._shop.environ, self._place.model, self._place.agent)

    async def send(self, text: str, *, asks: bool) -> StartedTurn:
        at = self._place
        sent = await messages.send_message(
            self._shop, at.repo, at.branch, text, model=at.model, agent=at.agent, asks=asks
        )
        return StartedTurn(sent.run, sent.after)

    def follow(self, turn: StartedTurn) -> AsyncIterator[Event]:
        return messages.follow(self._shop, SentMessage(turn.run, self._topic, turn.after, ""))

    async def end_of(self, run: str) -> TurnEnd:
        return await messages.end_of(self._shop, run)

    async def cancel(self) -> CancelledTurn | None:
        held = await messages.cancel(self._shop, self._place.repo, self._place.branch)
        return None if held is None else CancelledTurn(held.holder, held.who, held.since)

    async def asked(self) -> QuestionAsked | None:
        here = id_of(self._place.repo)
        found = await asyncio.to_thread(
            questions.open_questions, self._shop, LOCAL, repository=here, branch=self._place.branch
        )
        asked = (QuestionAsked(each.id, each.run, each.text, each.options, each.expires, each.kind) for each in found)
        return next(asked, None)

    async def asking(self, question: QuestionAsked) -> StartedTurn:
        return await self.taken_over(question.run)

    async def taken_over(self, run: str) -> StartedTurn:
        """Gone on with here as soon as its process is dead."""
        self._shop.engine.take_over(run)
        return StartedTurn(run, await asyncio.to_thread(self._shop.events.last, self._topic))

    async def answer(self, question: str, text: str) -> None:
        await questions.answer(self._shop, LOCAL, question, text)

    @property
    def _topic(self) -> str:
        return subject_of(self._place.repo, self._place.branch).topic
