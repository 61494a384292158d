"""One turn of a conversation as a small file of its own, so that the five-thousandth costs what the fifth did."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from forge.errors import InvalidInput, NotFound
from forge.git import VFS
from forge.sessions.head import (
    FOLDER,
    SCHEMA_VERSION,
    Head,
    SessionUnreadable,
    json_bytes,
    read_head,
    usage_json,
    write_head,
)
from forge.sessions.messages import Json, Message, Usage, UserMessage, from_json, to_json, usage_from_json

_PER_FOLDER = 64
_ID = re.compile(r"(\d{6,})-[0-9a-f]{8,}")


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

    @property
    def number(self) -> int:
        return number_of(self.id)

    @property
    def asked(self) -> str:
        return next((item.text for item in self.items if isinstance(item, UserMessage)), "")


def turn_id(number: int, mark: str) -> str:
    """Sorts by number; the mark keeps apart turns that two branches made with the same number."""
    return f"{number:06d}-{mark}"


def number_of(turn: str) -> int:
    found = _ID.fullmatch(turn)
    if found is None:
        raise InvalidInput(f"{turn!r} is not the id of a turn.", hint="`forge session list` shows them.")
    return int(found[1])


def path_of(turn: str) -> str:
    return f"{FOLDER}/{(number_of(turn) - 1) // _PER_FOLDER:04d}/{turn}.json"


def write_turn(vfs: VFS, turn: Turn) -> None:
    """Put `turn` into the branch, as the newest of its conversation. Nothing of earlier turns is written again."""
    head = read_head(vfs)
    vfs.write_bytes(path_of(turn.id), json_bytes(_turn_json(turn)))
    said = sum(not isinstance(item, Reference) for item in turn.items)
    write_head(
        vfs,
        replace(head, turns=turn.number, messages=head.messages + said, last=turn.id, usage=head.usage + turn.usage),
    )


def read_turn(vfs: VFS, turn: str) -> Turn:
    path = path_of(turn)
    if not vfs.file_exists(path):
        raise TurnMissing(f"There is no turn {turn} on this branch.", hint="`forge session list` shows its turns.")
    try:
        return _turn(json.loads(vfs.read_bytes(path)))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise SessionUnreadable(
            f"{path} cannot be read: {e}", hint="Take it back from an earlier commit (`forge log`)."
        ) from e


def newest_first(vfs: VFS, head: Head | None = None) -> Iterator[Turn]:
    """The branch's conversation backwards, along what each turn names as the one before it."""
    at = (head or read_head(vfs)).last
    while at is not None:
        turn = read_turn(vfs, at)
        yield turn
        # A chain only leads to smaller numbers, so damage cannot send us round for ever.
        at = turn.parent if turn.parent is not None and number_of(turn.parent) < turn.number else None


def conversation(vfs: VFS) -> tuple[Turn, ...]:
    return tuple(reversed(tuple(newest_first(vfs))))


def current_stretch(vfs: VFS) -> tuple[Turn, ...]:
    """The turns since the prompt stream last began anew, oldest first."""
    turns: list[Turn] = []
    for turn in newest_first(vfs):
        turns.append(turn)
        if turn.opens:
            break
    return tuple(reversed(turns))


def brought_by_merges(vfs: VFS) -> tuple[str, ...]:
    """Ids of turns that lie in the branch but belong to conversations that were merged into it."""
    own = {turn.id for turn in newest_first(vfs)}
    names = (path.rpartition("/")[2].removesuffix(".json") for path in vfs.list_files(f"{FOLDER}/"))
    return tuple(sorted(name for name in names if _ID.fullmatch(name) and name not in own))


def _turn_json(turn: Turn) -> Json:
    return {
        "schema_version": SCHEMA_VERSION,
        "id": turn.id,
        "parent": turn.parent,
        "started": turn.started,
        "model": turn.model,
        "status": turn.status.value,
        "reason": turn.reason,
        "opens": turn.opens,
        "files": list(turn.files),
        "usage": usage_json(turn.usage),
        "messages": list(map(item_json, turn.items)),
        "seen": turn.seen,
    }


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
    )


def item_json(item: Item) -> Json:
    return {"role": "reference", **item.data} if isinstance(item, Reference) else to_json(item)


def item_from_json(data: Json) -> Item:
    if data["role"] == "reference":
        return Reference({key: value for key, value in data.items() if key != "role"})
    return from_json(data)
