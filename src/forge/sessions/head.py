"""The small file at the head of a branch's conversation: where it stands, and which files are in context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forge.errors import Conflict
from forge.git import VFS
from forge.sessions.messages import Json, Usage, usage_from_json

HEAD_PATH = ".forge/session.json"
FOLDER = ".forge/session"
SCHEMA_VERSION = 1


class SessionUnreadable(Conflict):
    """The session was written by a newer version, or damaged by hand."""

    code = "session_unreadable"


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


def read_head(vfs: VFS) -> Head:
    """The head of the branch's session; an empty one where no conversation has begun."""
    if not vfs.file_exists(HEAD_PATH):
        return Head()
    try:
        data = json.loads(vfs.read_bytes(HEAD_PATH))
        return _head(data)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise SessionUnreadable(
            f"{HEAD_PATH} cannot be read: {e}",
            hint=f"Take it back from an earlier commit, or delete it to begin a new conversation; {FOLDER}/ is kept.",
        ) from e


def write_head(vfs: VFS, head: Head) -> None:
    data = {
        "schema_version": SCHEMA_VERSION,
        "active_files": [_active_json(file) for file in head.active_files],
        "messages": {"folder": FOLDER, "turns": head.turns, "count": head.messages, "last": head.last},
        "usage": usage_json(head.usage),
    }
    vfs.write_bytes(HEAD_PATH, json_bytes(data))


def json_bytes(data: Mapping[str, Any]) -> bytes:
    """One key a line, so that people can read it and git can show what changed."""
    return json.dumps(data, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def usage_json(usage: Usage) -> Json:
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}


def _head(data: Json) -> Head:
    if data["schema_version"] > SCHEMA_VERSION:
        raise SessionUnreadable(
            f"{HEAD_PATH} was written by a newer Forge (format {data['schema_version']}).",
            hint="Upgrade Forge, or work on a branch without this conversation.",
        )
    messages = data["messages"]
    return Head(
        int(messages["turns"]),
        int(messages["count"]),
        messages["last"],
        tuple(map(_active, data["active_files"])),
        usage_from_json(data.get("usage", {})),
    )


def _active_json(file: ActiveFile) -> Json:
    ranges = {"ranges": [list(lines) for lines in file.ranges]} if file.ranges else {}
    return {"path": file.path, **ranges}


def _active(data: Json | str) -> ActiveFile:
    if isinstance(data, str):  # a person may write the plain path by hand
        return ActiveFile(data)
    return ActiveFile(data["path"], tuple((int(first), int(last)) for first, last in data.get("ranges", ())))
