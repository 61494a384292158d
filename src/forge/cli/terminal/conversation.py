"""One conversation at a terminal: sends messages, shows what happens, and lets Ctrl-C end a turn."""

from __future__ import annotations

import asyncio
import signal

from forge.app import questions
from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import Repository, id_of, subject_of
from forge.app.sessions.messages import (
    SentMessage,
    TurnEnd,
    TurnStatus,
    answering,
    cancel,
    end_of,
    follow,
    send_message,
)
from forge.cli.terminal.progress import Pulse
from forge.cli.terminal.questions import meant, typed_line
from forge.cli.terminal.session import Exit
from forge.cli.terminal.turn_output import Told
from forge.errors import ForgeError, InvalidInput, NotFound
from forge.events import QuestionAsked, QuestionClosed

_CODES = {TurnStatus.DONE: Exit.OK, TurnStatus.FAILED: Exit.ERROR, TurnStatus.LIMITED: Exit.LIMITED}


class Talk:
    """`asks`: a person sits at the terminal, so the agent may ask back; the question is answered here or elsewhere."""

    def __init__(
        self,
        shop: Workshop,
        repo: Repository,
        how: Told,
        branch: str,
        *,
        model: str | None = None,
        agent: str | None = None,
        asks: bool = False,
    ) -> None:
        self._shop = shop
        self._repo = repo
        self._how = how
        self._branch = branch
        self._model = model
        self._agent = agent
        self._asks = asks
        self._asking: asyncio.Task[None] | None = None

    def answering(self) -> str:
        return answering(self._shop, self._model, self._agent)

    async def turn(self, text: str, *, forgiving: bool = False) -> int:
        """One message and all that comes of it; gives the exit code. Forgiving: an error is shown and that is all."""
        try:
            sent = await send_message(
                self._shop, self._repo, self._branch, text, model=self._model, agent=self._agent, asks=self._asks
            )
            end = await self._followed(sent)
        except ForgeError as e:
            if forgiving:
                self._how.failed(e)
            raise
        return self._ended(end)

    async def answer(self, text: str | None) -> int:
        """Answer what the turn on the branch asks, and follow it to its end; without a text, ask here."""
        asked = await asyncio.to_thread(self._open_question)
        topic = subject_of(self._repo, self._branch).topic
        sent = SentMessage(asked.run, topic, await asyncio.to_thread(self._shop.events.last, topic), "")
        self._shop.engine.take_over(asked.run)
        if text is None:
            event = QuestionAsked(asked.id, asked.run, asked.text, asked.options, asked.expires, asked.kind)
            self._how.event(event)
            await self._ask_here(event)
        else:
            await questions.answer(self._shop, LOCAL, asked.id, meant(text, asked.options))
        return self._ended(await self._followed(sent))

    def _open_question(self) -> questions.QuestionEntry:
        here = id_of(self._repo)
        found = questions.open_questions(self._shop, LOCAL, repository=here, branch=self._branch)
        if not found:
            raise NotFound(f"Nothing is asked on {self._branch}.", hint="`forge session show` tells what was said.")
        return found[0]

    def _ended(self, end: TurnEnd) -> int:
        self._how.end(end)
        return _CODES.get(end.status, Exit.INTERRUPTED)

    async def _followed(self, sent: SentMessage) -> TurnEnd:
        loop = asyncio.get_running_loop()
        interrupted = asyncio.Event()
        loop.add_signal_handler(signal.SIGINT, self._interrupt, interrupted)
        ending = asyncio.create_task(self._cancel_when(interrupted))
        try:
            async with Pulse(self._how.out, "waiting for the turn to begin", rest=self._how.rest) as pulse:
                async for event in follow(self._shop, sent):
                    pulse.heard(event)
                    self._how.event(event)
                    if isinstance(event, QuestionAsked) and self._asks:
                        self._asking = asyncio.create_task(self._ask_here(event))
                    elif isinstance(event, QuestionClosed):
                        self._stop_asking()
                return await end_of(self._shop, sent.run)
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            ending.cancel()
            self._stop_asking()

    async def _ask_here(self, asked: QuestionAsked) -> None:
        while True:
            self._how.prompt(more=False)
            line = await typed_line()
            if line is None:
                return self._how.unanswered(self._branch)
            try:
                if line.strip():
                    await questions.answer(self._shop, LOCAL, asked.question, meant(line, asked.options))
                    return None
            except InvalidInput as e:  # not among the answers: the question is still open
                self._how.failed(e)
            except ForgeError as e:  # somebody else was faster
                return self._how.failed(e)

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _interrupt(self, interrupted: asyncio.Event) -> None:
        if interrupted.is_set():  # the second time, the person means this process; the turn can be gone on with
            self._how.leaving(self._branch, server=self._shop.handing is not None and self._shop.handing.by is not None)
            raise KeyboardInterrupt
        interrupted.set()

    async def _cancel_when(self, interrupted: asyncio.Event) -> None:
        await interrupted.wait()
        self._how.cancelling()
        await cancel(self._shop, self._repo, self._branch)
