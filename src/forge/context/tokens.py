"""How much of a model's window a text takes, estimated in one place: four bytes are a token."""

from __future__ import annotations

import json

from forge.sessions.messages import AssistantMessage, Message, ToolResult

BYTES_PER_TOKEN = 4
_AROUND_MESSAGE = 4
"""Role, ids and separators that a provider puts around each message."""


def of_bytes(count: int) -> int:
    return (count + BYTES_PER_TOKEN - 1) // BYTES_PER_TOKEN


def of_text(text: str) -> int:
    return of_bytes(size(text))


def of_message(message: Message) -> int:
    taken = _AROUND_MESSAGE + of_text(message.text)
    if isinstance(message, ToolResult):
        return taken + of_text(message.name)
    if isinstance(message, AssistantMessage):
        for call in message.calls:
            taken += _AROUND_MESSAGE + of_text(call.name) + of_text(json.dumps(call.arguments, ensure_ascii=False))
        taken += sum(of_text(json.dumps(part, ensure_ascii=False, default=str)) for part in message.opaque)
    return taken


def size(text: str) -> int:
    """Bytes, of text that may have come from anywhere."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def cut(text: str, tokens: int) -> str:
    """The beginning of `text` that takes no more than `tokens`, never with half a character."""
    limit = max(tokens, 0) * BYTES_PER_TOKEN
    if size(text) <= limit:
        return text
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def shortened(text: str, tokens: int, *, note: str = "{left:,} characters left out") -> str:
    """Beginning and end of a text that is too long, with a note between them that says how much is missing."""
    if of_text(text) <= tokens:
        return text
    head = cut(text, tokens * 2 // 3)
    tail = cut(text[::-1], tokens // 3)[::-1]
    left = len(text) - len(head) - len(tail)
    return f"{head}\n[… {note.format(left=left)} …]\n{tail}"
