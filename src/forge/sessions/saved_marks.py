"""Marks that a save took along: a file for each such save, named by its content, in a folder of the turn it follows.

No two branches write different bytes to the same path, and the next turn holds what the files of the turn before said.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from forge.git import VFS, WorkInProgressVFS
from forge.json_value import Json
from forge.sessions.head import Head
from forge.sessions.layout import MARKS, SCHEMA_VERSION, SessionUnreadable, TurnRef, json_bytes
from forge.sessions.marks import Marks
from forge.sessions.messages import Usage, usage_from_json, usage_json

_NAME = "marks.json"
_BEFORE_ANY_TURN = f"{MARKS}/none"


@dataclass(frozen=True, slots=True)
class Sums:
    """What a conversation of the first format came to; each of its turns knows only its own part."""

    messages: int
    usage: Usage


def with_saved(vfs: VFS, head: Head) -> Head:
    """The head with what was marked and saved after its last turn."""
    for path in _paths(vfs, head.ref):
        head = _read(vfs, path).applied(head)
    return head


def sums_after(vfs: VFS, last: TurnRef) -> Sums | None:
    """As they were written down when the branch took the second format."""
    for path in _paths(vfs, last):
        data = _json(vfs, path)
        if "so_far" in data:
            return Sums(int(data["so_far"]["messages"]), usage_from_json(data["so_far"]["usage"]))
    return None


def write_saved(vfs: WorkInProgressVFS, seen: VFS, last: TurnRef | None, marks: Marks, sums: Head | None = None) -> str:
    """Put `marks` into what is pending, after those that are `seen` in the conversation. Gives the path.

    Written a second time, after a crash, they are found.
    """
    so_far = {"so_far": {"messages": sums.messages, "usage": usage_json(sums.usage)}} if sums else {}
    data = {
        "schema_version": SCHEMA_VERSION,
        "branch": vfs.branch,
        "after": last.id if last else None,
        "after_lane": last.lane if last else None,
        **so_far,
        **marks.to_json(),
    }
    mark = hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    before = [path.rpartition("/")[0].rpartition("/")[2] for path in _paths(seen, last)]
    if before and before[-1].endswith(f"-{mark}"):
        return f"{folder_after(last)}/{before[-1]}/{_NAME}"
    number = int(before[-1].partition("-")[0]) + 1 if before else 1
    path = f"{folder_after(last)}/{number:04d}-{mark}/{_NAME}"
    vfs.write_record(path, json_bytes(data, unlike=mark))
    return path


def folder_after(last: TurnRef | None) -> str:
    """Where the files are that follow a turn. No lane has one of the other two names."""
    return f"{MARKS}/{last.lane or 'first'}/{last.id}" if last else _BEFORE_ANY_TURN


def _paths(vfs: VFS, last: TurnRef | None) -> list[str]:
    """In the order in which they were made; of branches that were merged, in the same order everywhere."""
    folder = folder_after(last)
    found = vfs.entry(folder)
    if found is None or not found.is_tree:
        return []
    names = sorted(entry.name for entry in vfs.list_dir(folder) if entry.name[:4].isdigit())
    paths = (f"{folder}/{name}/{_NAME}" for name in names)
    return [path for path in paths if vfs.file_exists(path)]


def _read(vfs: VFS, path: str) -> Marks:
    try:
        return Marks.from_json(_json(vfs, path))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _unreadable(path, str(e)) from e


def _json(vfs: VFS, path: str) -> Json:
    try:
        data: Json = json.loads(vfs.read_bytes(path))
        version = int(data["schema_version"])
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _unreadable(path, str(e)) from e
    if version > SCHEMA_VERSION:
        raise _unreadable(path, f"it was written by a newer Forge (format {version})")
    return data


def _unreadable(path: str, why: str) -> SessionUnreadable:
    return SessionUnreadable(f"{path} cannot be read: {why}", hint="Take it back from an earlier commit (`forge log`).")
