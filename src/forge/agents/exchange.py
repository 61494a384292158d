"""What a loop has come to so far. A turn's desk is one with a branch under it; others need no more than this."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from forge.agents.steps import Steps
from forge.context import compaction
from forge.events import ContextCompacted
from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Message, ToolResult, Usage
from forge.sessions.turns import Item, Reference


@dataclass(slots=True, kw_only=True)
class Exchange:
    id: str
    """Names it in events."""
    items: list[Item] = field(default_factory=list)
    """All that was said, in order."""
    usage: Usage = field(default_factory=Usage)
    unfinished: str = ""
    """What a model had said of an answer that was broken off."""
    vfs: WorkInProgressVFS | None = None

    def messages(self) -> list[Message]:
        """What the model is sent at first."""
        return [item for item in self.items if not isinstance(item, Reference)]

    def fitted(self, steps: Steps, sent: list[Message], window: int) -> list[Message]:
        """Before each request: what is sent, shorter if the window fills."""
        taken = compaction.taken_by(sent)
        if not compaction.due(taken, window):
            return sent
        shorter = compaction.compacted(sent, limit=int(window * compaction.TARGET))
        steps.emit(ContextCompacted(self.id, taken, shorter.after))
        return list(shorter.messages)

    def after_tools(self, sent: list[Message]) -> None:
        """After the calls of one answer: what else the model is shown."""

    async def keeping_changes(self, steps: Steps, name: str, work: Callable[[], Awaitable[Json]]) -> Json:
        """A step whose effects cannot be repeated."""
        done: Json = await steps.step(name, work)
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
