"""Turns of a conversation that the server carries out; this process continues one whose server ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Self

from forge.app.process.known_secrets import redactor
from forge.app.process.server_lock import Serving
from forge.app.process.settings_difference import differing, notes, refuse_without_key
from forge.app.repositories.catalog import id_of
from forge.app.sessions.answerer import chosen, full_name
from forge.app.sessions.turn_end import TurnEnd, end_from_json
from forge.cli.server_client import ServerClient, ServerGone, server_ended
from forge.cli.server_follow import followed
from forge.cli.terminal.turns import CancelledTurn, ConversationPlace, StartedTurn
from forge.errors import ForgeError
from forge.events import Event, QuestionAsked
from forge.json_value import Json
from forge.settings import Settings

if TYPE_CHECKING:
    from forge.cli.terminal.local_turns import LocalTurns

_CHOSEN = ("models",)
"""Who answers is settled here, by the repository's settings too; the rest is as the server has it."""
_WAIT = 2.0


class ServerTurns:
    """One client for all turns of a command."""

    def __init__(
        self, server: Serving, settings: Settings, place: ConversationPlace, tell: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._place = place
        self._tell = tell
        self._client = ServerClient(server, settings.data_dir)
        self._at = f"/repositories/{id_of(place.repo)}"
        self._opened = AsyncExitStack()
        self._local: LocalTurns | None = None
        self._compared: int | None = None
        self._cancels = False
        self.is_at_work = False

    async def __aenter__(self) -> Self:
        await self._opened.enter_async_context(self._client)
        return self

    async def __aexit__(self, *told: object) -> None:
        await self._opened.aclose()

    @property
    def server(self) -> int | None:
        return None if self._local else self._client.server.pid

    def answering(self) -> str:
        return full_name(*chosen(self._settings, self._place.model, self._place.agent))

    async def send(self, text: str, *, asks: bool) -> StartedTurn:
        if self._local is not None:
            return await self._local.send(text, asks=asks)
        found = await asyncio.to_thread(differing, self._client.server, self._settings, chosen=_CHOSEN)
        model, agent = await asyncio.to_thread(chosen, self._settings, self._place.model, self._place.agent)
        if agent is None:
            refuse_without_key(self._client.server, found, model or "")
        repo = self._place.repo
        body = {
            # The server knows its own secrets, not those of this command.
            "text": redactor(self._settings, os.environ).text(text),
            "model": model,
            "agent": agent,
            "asks": asks,
            # Its checkout may be another one of the same repository.
            "start": None if repo.is_empty else str(repo.resolve("HEAD")),
        }
        sent = await self._in_repository(lambda: self._client.post(f"{self._at}/session/messages", body, **self._on))
        self.is_at_work = True
        if self._compared != self._client.server.pid:
            self._compared = self._client.server.pid
            for line in notes(self._client.server, found):
                self._tell(line)
        return StartedTurn(sent["run"], sent["after"])

    async def follow(self, turn: StartedTurn) -> AsyncIterator[Event]:
        last = turn.after
        try:
            if self._local is None:
                async for id_, event in followed(self._client, self._topic, last, lambda: self._has_ended(turn.run)):
                    last = id_ or last
                    yield event
                return
        except ServerGone:
            await self._continue_here(turn.run)
        assert self._local is not None
        async for event in self._local.follow(StartedTurn(turn.run, last)):
            yield event

    async def _has_ended(self, run: str) -> bool:
        """However it ended: an error is raised by `end_of`."""
        try:
            return (await self._run(run, wait=_WAIT))["end"] is not None
        except ServerGone:
            raise
        except ForgeError:
            return True

    async def end_of(self, run: str) -> TurnEnd:
        self.is_at_work = False
        if self._local is not None:
            return await self._local.end_of(run)
        return end_from_json((await self._run(run, wait=_WAIT))["end"])

    async def cancel(self) -> CancelledTurn | None:
        self._cancels = True
        with suppress(ServerGone):
            if self._local is None:
                return await self._cancelled_by_server()
        # A turn that is followed is cancelled by the process that continues it.
        return None if self._local is None else await self._local.cancel()

    async def _cancelled_by_server(self) -> CancelledTurn | None:
        try:
            told = await self._in_repository(lambda: self._client.post(f"{self._at}/session/cancel", None, **self._on))
        except ForgeError as e:
            if e.code == "branch_missing":
                return None
            raise
        held = told["cancelled"]
        return None if held is None else CancelledTurn(held["turn"], held["who"], held["since"])

    async def asked(self) -> QuestionAsked | None:
        told = await self._client.get("/questions", repository=id_of(self._place.repo), **self._on)
        first = next(iter(told["questions"]), None)
        if first is None:
            return None
        return QuestionAsked(
            first["id"], first["run"], first["text"], tuple(first["options"]), first["expires"], first["kind"]
        )

    async def asking(self, question: QuestionAsked) -> StartedTurn:
        told = await self._in_repository(lambda: self._run(question.run))
        self.is_at_work = True
        return StartedTurn(question.run, told["after"])

    async def answer(self, question: str, text: str) -> None:
        if self._local is not None:
            await self._local.answer(question, text)
            return
        said = redactor(self._settings, os.environ).text(text)
        await self._client.post(f"/questions/{question}/answer", {"text": said})

    async def _run(self, run: str, *, wait: float = 0) -> Json:
        return await self._client.get(f"{self._at}/session/runs/{run}", wait=wait, **self._on)

    async def _in_repository(self, asked: Callable[[], Any]) -> Json:
        """The server manages the repository from now on, if it has not done so."""
        try:
            told: Json = await asked()
        except ForgeError as e:
            if e.code != "repository_missing":
                raise
            repo = self._place.repo
            await self._client.post("/repositories", {"path": str(repo.work_tree or repo.git_dir)})
            told = await asked()
        return told

    async def _continue_here(self, run: str) -> None:
        """The server has ended: open what a turn needs in this process."""
        from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
        from forge.cli.terminal.local_turns import LocalTurns  # noqa: PLC0415

        self._tell(server_ended(self._client.server))
        shop = await self._opened.enter_async_context(open_workshop(self._settings, os.environ))
        self._local = LocalTurns(shop, self._place)
        self.is_at_work = False
        await self._local.taken_over(run)
        if self._cancels:
            await self._local.cancel()

    @property
    def _on(self) -> dict[str, str]:
        return {"branch": self._place.branch}

    @property
    def _topic(self) -> str:
        return f"branch:{id_of(self._place.repo)}:{self._place.branch}"
