"""What is said on a branch, by whom, in which order. Plain values that turn into JSON and back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from forge.json_value import Json


@dataclass(frozen=True, slots=True)
class Usage:
    """What one or more model calls took. Cached tokens are part of the input; cost is None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    requests: int = 0
    cost: float | None = None
    """US dollars."""

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.requests + other.requests,
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The person's own words."""

    text: str
    author: str = ""
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """What Forge puts into the stream by itself: summaries, text of files, notes. Sent in the person's role."""

    text: str
    kind: str = "note"


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One answer of a model. `opaque` holds parts that only its provider understands and wants back unchanged."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    opaque: tuple[Json, ...] = ()
    cut: bool = False
    """Whether it ends where it does because of the limit for its length; its last call may not be whole."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    name: str
    text: str
    failed: bool = False


Message = UserMessage | ContextMessage | AssistantMessage | ToolResult

_KINDS: Mapping[str, type[Message]] = {
    "user": UserMessage,
    "context": ContextMessage,
    "assistant": AssistantMessage,
    "tool": ToolResult,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(message: Message) -> Json:
    data = {"role": _NAMES[type(message)], **asdict(message)}
    if not data.get("cut", True):
        del data["cut"]  # nearly always so, and older programs do not write it either
    return data


def from_json(data: Json) -> Message:
    """Fields that a newer version added are left out: an old program can still read what it knows."""
    kind = _KINDS[data["role"]]
    known = {name: data[name] for name in kind.__dataclass_fields__ if name in data}
    if kind is AssistantMessage:
        known["calls"] = tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in known.get("calls", ()))
        known["usage"] = usage_from_json(known.get("usage", {}))
        known["opaque"] = tuple(known.get("opaque", ()))
    return kind(**known)


def usage_from_json(data: Json) -> Usage:
    return Usage(**{name: data[name] for name in Usage.__dataclass_fields__ if name in data})


def usage_json(usage: Usage) -> Json:
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}
