"""One call: who makes it, for whom, on what, and how it tells that it is still running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from pathlib import Path

    from forge.app.access.identity import Who
    from forge.app.drafts.drafts import Agent
    from forge.app.process.workshop import Workshop
    from forge.app.repositories.catalog import Repository
    from forge.mcp.elicitation import Asker
    from forge.mcp.jobs import Jobs
    from forge.settings import Settings

T = TypeVar("T")
_SIGN_OF_LIFE = 5.0
"""Seconds between two progress notifications."""
Progress = Callable[[float, float | None, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where a call names none."""

    repository: str | None = None
    project: str | None = None
    build: str | None = None


class Host(Protocol):
    """Where calls are answered: in a server, or at the machine of one person."""

    @property
    def directory(self) -> Path | None:
        """Where the person works, at their own machine."""

    async def shop(self) -> Workshop: ...

    async def settings(self) -> Settings: ...

    async def project(self) -> str | None:
        """The project whose directory the person works in."""

    @property
    def runs(self) -> anyio.CapacityLimiter:
        """For calls that may take minutes."""

    async def moved(self, repo: Repository) -> None:
        """Tell others that a branch moved."""

    async def note(self, who: Who, tool: str, subject: str) -> None:
        """Write into the audit what an agent did for `who`."""

    async def repository(self, who: Who, name: str | None, scope: str) -> tuple[str, Repository]:
        """The repository named, else the only one; with the name by which the person knows it."""


@dataclass(frozen=True, slots=True)
class Call:
    host: Host
    who: Who
    agent_name: str
    defaults: Defaults
    progress: Progress
    jobs: Jobs
    tool: str = ""
    asker: Asker | None = None
    """Asks the person at the client, where that client can."""
    is_task: bool = False
    """Nobody waits for it: its client looks at it now and then."""
    web: str | None = None
    """Where the person finds Forge in a browser."""

    @property
    def owner(self) -> str:
        """Whose jobs those are that the call begins."""
        return f"{self.who.id}:{self.who.key or ''}"

    @property
    def agent(self) -> Agent:
        from forge.app.drafts.drafts import Agent  # noqa: PLC0415 - loads git, which the first answer does not need

        return Agent(self.who, self.agent_name)

    async def in_thread(self, work: Callable[[], T], *, cancel: Callable[[], None] | None = None) -> T:
        """Use cases wait for git and SQL. One that can be cancelled is left behind when the client cancels."""
        if cancel is None:
            return await anyio.to_thread.run_sync(work)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self.host.runs)
        except anyio.get_cancelled_exc_class():
            cancel()
            raise

    async def telling(self, doing: str, work: Awaitable[T]) -> T:
        """Tell the client every few seconds that a long call is still running, if it wants to know."""
        telling = asyncio.ensure_future(self._tell(doing))
        try:
            return await work
        finally:
            telling.cancel()

    async def _tell(self, doing: str) -> None:
        seconds = 0.0
        while True:
            await self.progress(seconds, None, doing)
            await anyio.sleep(_SIGN_OF_LIFE)
            seconds += _SIGN_OF_LIFE
