"""Where one turn works: its files, what was said before, and what it has come to so far."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from forge.agents.steps import Steps
from forge.agents.stream import Past
from forge.context.seen import Seen
from forge.git import Repository, WorkInProgressVFS
from forge.git.refs.snapshots import keep, restore
from forge.sessions.messages import AssistantMessage, ToolResult, Usage
from forge.sessions.turns import Item, TurnStatus

Json = dict[str, Any]


class Stopped(Exception):
    """The turn ends without its changes: cancelled, at a limit, or because something failed."""

    def __init__(self, status: TurnStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(slots=True)
class Desk:
    repo: Repository
    turn: str
    vfs: WorkInProgressVFS
    past: Past
    items: list[Item]
    seen: Seen
    """What the model has been shown of the branch up to now."""
    usage: Usage = field(default_factory=Usage)
    unfinished: str = ""
    """What a model had said of an answer that was broken off."""

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
            return {**done, "snapshot": await asyncio.to_thread(keep, self.repo.refs, self.vfs, self.turn)}

        done: Json = await steps.step(name, run)
        if not here and "snapshot" in done:
            await asyncio.to_thread(restore, self.vfs, done["snapshot"])
        return done

    def close(self) -> None:
        """Leave nothing open that a provider would not take back: each call has a result."""
        if self.unfinished:
            self.items.append(AssistantMessage(self.unfinished))
            self.unfinished = ""
        answered = {item.call_id for item in self.items if isinstance(item, ToolResult)}
        calls = [call for item in self.items if isinstance(item, AssistantMessage) for call in item.calls]
        open_calls = [call for call in calls if call.id not in answered]
        self.items += [ToolResult(c.id, c.name, "Not carried out: the turn ended.", failed=True) for c in open_calls]
