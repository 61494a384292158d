"""The prompt stream of one branch: what a model was sent so far, and what a turn adds to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forge.context import compaction
from forge.context.seen import Seen
from forge.context.source import ContextSettings, Source
from forge.context.stream import Addition, changes_since, opening, rebase, rebase_due, stream
from forge.git import VFS, WorkInProgressVFS
from forge.sessions.conversation import current_stretch, newest_first
from forge.sessions.messages import Message, UserMessage
from forge.sessions.turns import Item, Reference, Turn


@dataclass(frozen=True, slots=True)
class Past:
    """The turns since the stream last began, and what was said before them."""

    turns: tuple[Turn, ...] = ()
    earlier: tuple[Message, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for turn in self.turns for item in turn.items)

    @property
    def seen(self) -> Seen:
        return Seen.from_json(self.turns[-1].seen) if self.turns else Seen()


@dataclass(frozen=True, slots=True)
class Stream:
    source: Source
    settings: ContextSettings
    window: int
    """Tokens that one request may hold."""

    def beginning(self, vfs: WorkInProgressVFS, past: Past, message: str = "") -> Addition:
        """What comes before the person's next `message`: changes since the last turn, or a new beginning when due."""
        if not past.turns:
            return opening(vfs, self.source, self.settings, message=message)
        sent = self.messages(past, ())
        if self.is_full(sent):
            return self.anew(vfs, past, (), message)
        if rebase_due(past.items, past.seen, self.window, self.settings):
            return rebase(vfs, _said(past, ()), self.source, self.settings, message=message)
        return changes_since(vfs, past.seen, self.source, self.settings, message=message)

    def brought_in(self, vfs: WorkInProgressVFS, seen: Seen) -> Addition:
        """Files that came into the context within a turn, or left it."""
        return changes_since(vfs, seen, self.source, self.settings, edits=False)

    def anew(self, vfs: WorkInProgressVFS, past: Past, items: Sequence[Item], message: str = "") -> Addition:
        """Begin the stream anew, with a shorter account of what was said."""
        limit = int(self.window * self.settings.compact_target)
        said = _said(past, items)
        newest = message or next((item.text for item in reversed(said) if isinstance(item, UserMessage)), "")
        return rebase(vfs, said, self.source, self.settings, limit=limit, message=newest)

    def messages(self, past: Past, items: Sequence[Item]) -> tuple[Message, ...]:
        return stream((*past.items, *items), self.source, earlier=lambda: past.earlier)

    def is_full(self, sent: Sequence[Message]) -> bool:
        return compaction.due(self.tokens(sent), self.window, share=self.settings.compact_share)

    @staticmethod
    def tokens(sent: Sequence[Message]) -> int:
        return compaction.taken_by(sent)


def past_of(vfs: VFS) -> Past:
    """What the conversation of a branch is to its next turn."""
    turns = current_stretch(vfs)
    if not turns or turns[0].parent is None:
        return Past(turns)
    before = [turn for turn in newest_first(vfs) if turn.number < turns[0].number]
    earlier = [item for turn in reversed(before) for item in turn.items if not isinstance(item, Reference)]
    return Past(turns, tuple(earlier))


def begins_anew(items: Sequence[Item]) -> bool:
    return any(isinstance(item, Reference) and item.data.get("kind") == "begin" for item in items)


def _said(past: Past, items: Sequence[Item]) -> tuple[Message, ...]:
    now = [item for item in (*past.items, *items) if not isinstance(item, Reference)]
    return (*past.earlier, *now)
