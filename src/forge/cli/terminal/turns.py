"""Who carries out the turns of a conversation: the server, where one runs on the same data, else this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from forge.app.repositories.catalog import Repository
from forge.cli.terminal.session import Session

if TYPE_CHECKING:
    from forge.app.sessions.turn_end import TurnEnd
    from forge.events import Event, QuestionAsked
    from forge.settings import Settings


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """Where a conversation is, and who is to answer there."""

    repo: Repository
    branch: str
    model: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class StartedTurn:
    run: str
    after: int
    """The id after which its events begin."""


@dataclass(frozen=True, slots=True)
class CancelledTurn:
    turn: str
    who: str
    since: float


class Turns(Protocol):
    """The turns on one branch."""

    @property
    def server(self) -> int | None:
        """The process that works on them, if it is another one."""

    def answering(self) -> str:
        """The full name of who answers."""

    async def send(self, text: str, *, asks: bool) -> StartedTurn:
        """Begin a turn. `asks`: the agent may ask back."""

    def follow(self, turn: StartedTurn) -> AsyncIterator[Event]:
        """What happens in the turn, as it happens, until it has ended."""

    async def end_of(self, run: str) -> TurnEnd:
        """An error that kept it from beginning is raised."""

    async def cancel(self) -> CancelledTurn | None:
        """None where no turn is under way."""

    async def asked(self) -> QuestionAsked | None:
        """What the turn on the branch waits for a person to answer."""

    async def asking(self, question: QuestionAsked) -> StartedTurn:
        """The turn that asks, to be followed from here on."""

    async def answer(self, question: str, text: str) -> None: ...


@asynccontextmanager
async def opened_turns(session: Session, settings: Settings, place: ConversationPlace) -> AsyncIterator[Turns]:
    """With `--direct`, this process works, even where a server runs."""
    from forge.cli.server_client import running_server, server_continues  # noqa: PLC0415

    server = None if session.direct else await asyncio.to_thread(running_server, settings.data_dir)
    if server is None:
        from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
        from forge.cli.terminal.local_turns import LocalTurns  # noqa: PLC0415

        async with open_workshop(settings, os.environ) as shop:
            yield LocalTurns(shop, place)
        return
    from forge.cli.terminal.server_turns import ServerTurns  # noqa: PLC0415

    async with ServerTurns(server, settings, place, session.output.note) as turns:
        try:
            yield turns
        except asyncio.CancelledError:
            if turns.is_at_work:
                session.output.note(server_continues(turns.server))
            raise
