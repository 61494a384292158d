"""One conversation at a terminal: sends messages, shows what happens, and lets Ctrl-C end a turn."""

from __future__ import annotations

import asyncio
import signal

from forge.app.repositories import Repository
from forge.app.turns import SentMessage, TurnEnd, TurnStatus, answering, cancel, end_of, follow, send_message
from forge.app.workshop import Workshop
from forge.cli.running import Exit
from forge.cli.telling import Told
from forge.errors import ForgeError

_CODES = {TurnStatus.DONE: Exit.OK, TurnStatus.FAILED: Exit.ERROR, TurnStatus.LIMITED: Exit.LIMITED}


class Talk:
    def __init__(
        self, shop: Workshop, repo: Repository, how: Told, branch: str, model: str | None, agent: str | None
    ) -> None:
        self._shop = shop
        self._repo = repo
        self._how = how
        self._branch = branch
        self._model = model
        self._agent = agent

    def answering(self) -> str:
        return answering(self._shop, self._model, self._agent)

    async def turn(self, text: str, *, forgiving: bool = False) -> int:
        """One message and all that comes of it; gives the exit code. Forgiving: an error is shown and that is all."""
        try:
            sent = await send_message(self._shop, self._repo, self._branch, text, model=self._model, agent=self._agent)
            end = await self._followed(sent)
        except ForgeError as e:
            if forgiving:
                self._how.failed(e)
            raise
        self._how.end(end)
        return _CODES.get(end.status, Exit.INTERRUPTED)

    async def _followed(self, sent: SentMessage) -> TurnEnd:
        loop = asyncio.get_running_loop()
        interrupted = asyncio.Event()
        loop.add_signal_handler(signal.SIGINT, self._interrupt, interrupted)
        ending = asyncio.create_task(self._cancel_when(interrupted))
        try:
            async for event in follow(self._shop, sent):
                self._how.event(event)
            return await end_of(self._shop, sent.run)
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            ending.cancel()

    def _interrupt(self, interrupted: asyncio.Event) -> None:
        if interrupted.is_set():  # the second time, the person means this process; the turn can be gone on with
            self._how.leaving(self._branch, server=self._shop.handing is not None and self._shop.handing.by is not None)
            raise KeyboardInterrupt
        interrupted.set()

    async def _cancel_when(self, interrupted: asyncio.Event) -> None:
        await interrupted.wait()
        self._how.cancelling()
        await cancel(self._shop, self._repo, self._branch)
