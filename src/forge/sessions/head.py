"""Where a branch's conversation stands: its last turn, what it came to, and which files are in context."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forge.git import VFS, WorkInProgressVFS
from forge.json_value import Json
from forge.sessions.layout import DRAFT_PATH, FIRST_FORMAT, FOLDER, HEAD_PATH, SessionUnreadable, TurnRef, json_bytes
from forge.sessions.messages import Usage, usage_from_json, usage_json


@dataclass(frozen=True, slots=True)
class ActiveFile:
    """A file in the agent's context; without ranges, the whole of it."""

    path: str
    ranges: tuple[tuple[int, int], ...] = ()
    """First and last line, counted from one."""


@dataclass(frozen=True, slots=True)
class Head:
    """What must be known before a turn is read. Its size does not grow with the conversation."""

    turns: int = 0
    messages: int = 0
    last: str | None = None
    """The id of the last turn; each turn names the one before it."""
    active_files: tuple[ActiveFile, ...] = ()
    usage: Usage = field(default_factory=Usage)
    lane: str | None = None
    """Of the last turn."""
    off: tuple[str, ...] = ()
    """Instruction files that are not to be in context."""
    earlier: tuple[TurnRef, ...] = ()
    """Some turns before the last, the nearest first: one of them goes on where the last is dropped from history."""

    @property
    def ref(self) -> TurnRef | None:
        return TurnRef(self.last, self.lane) if self.last is not None else None


def draft_of(vfs: VFS) -> Head | None:
    """What a turn under way starts from, once it was fixed; only a pending file counts, never a committed one."""
    if not isinstance(vfs, WorkInProgressVFS) or vfs.pending.get(DRAFT_PATH) is None:
        return None
    return head_from_json(json.loads(vfs.read_bytes(DRAFT_PATH)))


def write_draft(vfs: WorkInProgressVFS, head: Head) -> None:
    vfs.write_record(DRAFT_PATH, json_bytes(head_json(head)))


def drop_draft(vfs: WorkInProgressVFS) -> None:
    if vfs.file_exists(DRAFT_PATH):
        vfs.delete_record(DRAFT_PATH)


def with_active(head: Head, active: tuple[ActiveFile, ...]) -> Head:
    return replace(head, active_files=tuple({file.path: file for file in active}.values()))


def head_json(head: Head) -> Json:
    return {
        "last": head.last,
        "lane": head.lane,
        "so_far": {"turns": head.turns, "messages": head.messages, "usage": usage_json(head.usage)},
        "earlier": refs_json(head.earlier),
        **context_json(head),
    }


def context_json(head: Head) -> Json:
    off = {"off": list(head.off)} if head.off else {}
    return {"active_files": [active_json(file) for file in head.active_files], **off}


def head_from_json(data: Json) -> Head:
    so_far = data["so_far"]
    return Head(
        int(so_far["turns"]),
        int(so_far["messages"]),
        data["last"],
        tuple(map(active_from_json, data["active_files"])),
        usage_from_json(so_far["usage"]),
        data["lane"],
        tuple(map(str, data.get("off", ()))),
        refs_from_json(data.get("earlier", ())),
    )


def refs_json(refs: Iterable[TurnRef]) -> list[list[str | None]]:
    return [[ref.id, ref.lane] for ref in refs]


def refs_from_json(data: Iterable[Sequence[Any]]) -> tuple[TurnRef, ...]:
    return tuple(TurnRef(str(turn), lane) for turn, lane in data)


def first_format(data: bytes) -> Head | None:
    """The head as the first format has it in `.forge/session.json`; None where that only says where the turns are."""
    try:
        return _first_format(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise SessionUnreadable(
            f"{HEAD_PATH} cannot be read: {e}",
            hint="With git, restore it from an earlier commit, or delete it to begin a new conversation; "
            f"{FOLDER}/ is kept.",
        ) from e


def _first_format(data: Json) -> Head | None:
    version = int(data["schema_version"])
    if version > FIRST_FORMAT + 1:
        raise SessionUnreadable(
            f"{HEAD_PATH} was written by a newer Forge (format {version}).",
            hint="Upgrade Forge, or work on a branch without this conversation.",
        )
    if version > FIRST_FORMAT:
        return None
    messages = data["messages"]
    return Head(
        int(messages["turns"]),
        int(messages["count"]),
        messages["last"],
        tuple(map(active_from_json, data["active_files"])),
        usage_from_json(data.get("usage", {})),
    )


def active_json(file: ActiveFile) -> Json:
    ranges = {"ranges": [list(lines) for lines in file.ranges]} if file.ranges else {}
    return {"path": file.path, **ranges}


def active_from_json(data: Json | str) -> ActiveFile:
    if isinstance(data, str):  # a person may write the plain path by hand
        return ActiveFile(data)
    return ActiveFile(data["path"], tuple((int(first), int(last)) for first, last in data.get("ranges", ())))
