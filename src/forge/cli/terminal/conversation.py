"""One conversation at a terminal: sends messages, shows what happens, and lets Ctrl-C end a turn."""

from __future__ import annotations

import asyncio
import signal

from forge.app.sessions.turn_end import TurnEnd, TurnStatus
from forge.cli.terminal.progress import Pulse
from forge.cli.terminal.questions import meant, typed_line
from forge.cli.terminal.session import Exit
from forge.cli.terminal.turn_output import TurnDisplay
from forge.cli.terminal.turns import StartedTurn, Turns
from forge.errors import ForgeError, InvalidInput, NotFound
from forge.events import QuestionAsked, QuestionClosed

_CODES = {TurnStatus.DONE: Exit.OK, TurnStatus.FAILED: Exit.ERROR, TurnStatus.LIMITED: Exit.LIMITED}


class Talk:
    """`asks`: a person sits at the terminal, so the agent may ask back; the question is answered here or elsewhere."""

    def __init__(self, turns: Turns, how: TurnDisplay, branch: str, *, asks: bool = False) -> None:
        self._turns = turns
        self._how = how
        self._branch = branch
        self._asks = asks
        self._asking: asyncio.Task[None] | None = None

    async def turn(self, text: str, *, forgiving: bool = False) -> int:
        """One message and all that comes of it; gives the exit code. Forgiving: an error is shown and that is all."""
        try:
            sent = await self._turns.send(text, asks=self._asks)
            end = await self._followed(sent)
        except ForgeError as e:
            if forgiving:
                self._how.failed(e)
            raise
        return self._ended(end)

    async def answer(self, text: str | None) -> int:
        """Answer what the turn on the branch asks, and follow it to its end; without a text, ask here."""
        asked = await self._turns.asked()
        if asked is None:
            raise NotFound(f"Nothing is asked on {self._branch}.", hint="`forge session show` tells what was said.")
        turn = await self._turns.asking(asked)
        if text is None:
            self._how.event(asked)
            await self._ask_here(asked)
        else:
            await self._turns.answer(asked.question, meant(text, asked.options))
        return self._ended(await self._followed(turn))

    def _ended(self, end: TurnEnd) -> int:
        self._how.end(end)
        return _CODES.get(end.status, Exit.INTERRUPTED)

    async def _followed(self, turn: StartedTurn) -> TurnEnd:
        loop = asyncio.get_running_loop()
        interrupted = asyncio.Event()
        loop.add_signal_handler(signal.SIGINT, self._interrupt, interrupted)
        ending = asyncio.create_task(self._cancel_when(interrupted))
        try:
            async with Pulse(self._how.out, "waiting for the turn to begin", rest=self._how.rest) as pulse:
                async for event in self._turns.follow(turn):
                    pulse.heard(event)
                    self._how.event(event)
                    if isinstance(event, QuestionAsked) and self._asks:
                        self._asking = asyncio.create_task(self._ask_here(event))
                    elif isinstance(event, QuestionClosed):
                        self._stop_asking()
                return await self._turns.end_of(turn.run)
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
                    await self._turns.answer(asked.question, meant(line, asked.options))
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
            self._how.leaving(self._branch, server=self._turns.server is not None)
            raise KeyboardInterrupt
        interrupted.set()

    async def _cancel_when(self, interrupted: asyncio.Event) -> None:
        await interrupted.wait()
        self._how.cancelling()
        await self._turns.cancel()
