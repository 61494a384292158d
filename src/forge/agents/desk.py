"""Where one turn works: its files, what was said before, and what it has come to so far."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.agents.exchange import Exchange
from forge.events import ContextCompacted
from forge.git.refs.snapshots import keep, restore

if TYPE_CHECKING:
    from forge.agents.steps import Steps
    from forge.agents.stream import Past, Stream
    from forge.context.seen import Seen
    from forge.git import Repository, WorkInProgressVFS
    from forge.json_value import Json
    from forge.sessions.messages import Message
    from forge.sessions.turns import TurnStatus


class Stopped(Exception):
    """The turn ends without its changes: cancelled, at a limit, or because something failed."""

    def __init__(self, status: TurnStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(slots=True, kw_only=True)
class TurnDesk(Exchange):
    repo: Repository
    vfs: WorkInProgressVFS
    stream: Stream
    past: Past
    seen: Seen
    """What the model has been shown of the branch up to now."""

    def messages(self) -> list[Message]:
        return list(self.stream.messages(self.past, self.items))

    def fitted(self, steps: Steps, sent: list[Message], window: int) -> list[Message]:
        """Begin the stream anew when the window fills; what was said stays in the session as it is."""
        del window  # the stream knows it
        if not self.stream.is_full(sent):
            return sent
        anew = self.stream.anew(self.vfs, self.past, self.items)
        self.items += anew.items
        self.seen = anew.seen
        fitted = list(anew.messages)
        steps.emit(ContextCompacted(self.id, self.stream.tokens(sent), self.stream.tokens(fitted)))
        return fitted

    def after_tools(self, sent: list[Message]) -> None:
        """Show files that a tool took into the context at once, not only in the next turn."""
        added = self.stream.brought_in(self.vfs, self.seen)
        self.items += added.items
        sent += added.messages
        self.seen = added.seen

    async def keeping_changes(self, steps: Steps, name: str, work: Callable[[], Awaitable[Json]]) -> Json:
        """A step that may change files in ways that cannot be repeated: they are kept durably with its result."""
        here = False

        async def run() -> Json:
            nonlocal here
            before = dict(self.vfs.pending)
            done = await work()
            here = True
            if dict(self.vfs.pending) == before:
                return done
            return {**done, "snapshot": await asyncio.to_thread(keep, self.repo.refs, self.vfs, self.id)}

        done: Json = await steps.step(name, run)
        if not here and "snapshot" in done:
            await asyncio.to_thread(restore, self.vfs, done["snapshot"])
        return done
