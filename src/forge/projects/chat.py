"""The chat of a project as `chat_history.json` keeps it, one entry for each message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from forge.projects import fields
from forge.projects.errors import InvalidRecord
from forge.projects.status import Phase

FILE = "chat_history.json"

Role = Literal["human", "ai"]
# Nobody chats with a finished project.
PHASES = frozenset(Phase) - {Phase.DONE}


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Role
    content: str
    phase: Phase
    timestamp: str


def parse(text: str | None) -> tuple[ChatMessage, ...]:
    """Messages of the file, oldest first. No file, no messages."""
    if text is None:
        return ()
    entries = fields.loaded(text, FILE)
    if not isinstance(entries, list):
        raise InvalidRecord(f"{FILE} does not hold a list of messages.", hint=f"Repair or remove {FILE}.")
    return tuple(_message(entry) for entry in entries)


def format(messages: Sequence[ChatMessage]) -> str:  # noqa: A001 - always called as chat.format
    return fields.dumped([{name: getattr(m, name) for name in ChatMessage.__slots__} for m in messages])


def _message(entry: object) -> ChatMessage:
    if not isinstance(entry, dict):
        raise InvalidRecord(f"{FILE} has an entry that is no message.", hint=f"Repair or remove {FILE}.")
    phase = fields.text_of(entry, "phase", FILE)
    if phase not in PHASES:
        raise fields.invalid(FILE, "phase", f"one of {', '.join(sorted(PHASES))}")
    content, timestamp = fields.text_of(entry, "content", FILE), fields.text_of(entry, "timestamp", FILE)
    match entry.get("role"):
        case "human":
            return ChatMessage("human", content, Phase(phase), timestamp)
        case "ai":
            return ChatMessage("ai", content, Phase(phase), timestamp)
    raise fields.invalid(FILE, "role", "human or ai")
