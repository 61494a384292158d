"""One turn of a conversation as a small file of its own, so that the five-thousandth costs what the fifth did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum

from forge.errors import NotFound
from forge.json_value import Json
from forge.sessions.head import Head, context_json, head_from_json, refs_json
from forge.sessions.layout import (
    EARLIER,
    FIRST_FORMAT,
    SCHEMA_VERSION,
    SessionUnreadable,
    TurnRef,
    json_bytes,
    lane_of,
    number_of,
    turn_id,
)
from forge.sessions.messages import Message, Usage, UserMessage, from_json, to_json, usage_from_json, usage_json

__all__ = ["Reference", "Turn", "TurnMissing", "TurnStatus", "number_of", "turn_id"]


class TurnMissing(NotFound):
    code = "turn_missing"


class TurnStatus(StrEnum):
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Reference:
    """A piece of context that was in the stream, kept by what it is made of instead of as text."""

    data: Json


Item = Message | Reference


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message, everything said and done until it was answered, and how that ended."""

    id: str
    parent: str | None
    started: float
    model: str
    items: tuple[Item, ...]
    status: TurnStatus = TurnStatus.DONE
    reason: str = ""
    files: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seen: Json = field(default_factory=dict)
    """What the model has been shown of the branch, for the next turn to go on from."""
    opens: bool = False
    """Whether the stream of prompts begins anew here: the first turn, or one after a compaction."""
    branch: str | None = None
    """The branch that it was made on; None in the first format."""
    parent_lane: str | None = None
    """Where the turn before it is."""

    @property
    def number(self) -> int:
        return number_of(self.id)

    @property
    def ref(self) -> TurnRef:
        return TurnRef(self.id, lane_of(self.branch) if self.branch is not None else None)

    @property
    def before(self) -> TurnRef | None:
        """The turn that it names as the one before it. Only to smaller numbers: damage cannot lead round for ever."""
        if self.parent is None or number_of(self.parent) >= self.number:
            return None
        return TurnRef(self.parent, self.parent_lane)

    @property
    def asked(self) -> str:
        return next((item.text for item in self.items if isinstance(item, UserMessage)), "")


def turn_bytes(turn: Turn, after: Head) -> bytes:
    """The file of a turn, with where the conversation stands `after` it."""
    return json_bytes(
        {
            "schema_version": SCHEMA_VERSION,
            "id": turn.id,
            "branch": turn.branch,
            "parent": turn.parent,
            "parent_lane": turn.parent_lane,
            "earlier": refs_json(after.earlier),
            "started": turn.started,
            "model": turn.model,
            "status": turn.status.value,
            "reason": turn.reason,
            "opens": turn.opens,
            "files": list(turn.files),
            "usage": usage_json(turn.usage),
            **context_json(after),
            "so_far": {"turns": after.turns, "messages": after.messages, "usage": usage_json(after.usage)},
            "messages": list(map(item_json, turn.items)),
            "seen": turn.seen,
        },
        unlike=turn.id,
    )


def turn_from_bytes(data: bytes, path: str) -> Turn:
    with _readable(path):
        return _turn(json.loads(data))


def head_from_bytes(data: bytes, path: str) -> Head:
    """Where the conversation stood after a turn. A turn of the first format knows only its own part of that."""
    with _readable(path):
        found = json.loads(data)
        turn = _turn(found)
        if found["schema_version"] <= FIRST_FORMAT:
            said = sum(not isinstance(item, Reference) for item in turn.items)
            return Head(turn.number, said, turn.id, usage=turn.usage)
        head = head_from_json({**found, "last": turn.id, "lane": turn.ref.lane})
        parent = (TurnRef(turn.parent, turn.parent_lane),) if turn.parent else ()
        return replace(head, earlier=(*parent, *head.earlier)[:EARLIER])


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise SessionUnreadable(
            f"{path} cannot be read: {e}", hint="Take it back from an earlier commit (`forge log`)."
        ) from e


def _turn(data: Json) -> Turn:
    if data["schema_version"] > SCHEMA_VERSION:
        raise ValueError(f"it was written by a newer Forge (format {data['schema_version']})")
    return Turn(
        id=data["id"],
        parent=data["parent"],
        started=data["started"],
        model=data["model"],
        items=tuple(map(item_from_json, data["messages"])),
        status=TurnStatus(data["status"]),
        reason=data["reason"],
        files=tuple(data["files"]),
        usage=usage_from_json(data["usage"]),
        seen=data["seen"],
        opens=data["opens"],
        branch=data.get("branch"),
        parent_lane=data.get("parent_lane"),
    )


def item_json(item: Item) -> Json:
    return {"role": "reference", **item.data} if isinstance(item, Reference) else to_json(item)


def item_from_json(data: Json) -> Item:
    if data["role"] == "reference":
        return Reference({key: value for key, value in data.items() if key != "role"})
    return from_json(data)
