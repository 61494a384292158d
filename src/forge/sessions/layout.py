"""Where a conversation is in a tree: one file for each turn, at a path that no other turn ever has.

Two branches never write different bytes to the same path, so git merges them in any order without a conflict.
`.forge/session.json` has the same bytes on every branch: it says which format this is and where the turns are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.errors import Conflict, InvalidInput

HEAD_PATH = ".forge/session.json"
FOLDER = ".forge/session"
RECORDS = f"{FOLDER}/merged"
"""One file for each merge that kept a summary of a conversation instead of its turns."""
MARKS = f"{FOLDER}/marks"
"""One file for each save that took marks in the context along."""
NO_TURNS = (RECORDS, MARKS)
DRAFT_PATH = f"{FOLDER}/draft.json"
"""Only ever pending: what a turn under way starts from, and which files it has in context by now."""
SCHEMA_VERSION = 2
FIRST_FORMAT = 1
EARLIER = 8
"""So many turns before its parent a turn names, for where that is left out of the history."""
_PER_FOLDER = 64
_ID = re.compile(r"(\d{6,})-[0-9a-f]{8,}")
_FILE = re.compile(r"(?P<lane>[a-z0-9-]*-[0-9a-f]{8})/\d{4,}/(?P<id>\d{6,}-[0-9a-f]{8,})/turn\.json")
_FIRST_FILE = re.compile(r"\d{4,}/(?P<id>\d{6,}-[0-9a-f]{8,})\.json")


class SessionUnreadable(Conflict):
    """The session was written by a newer version, or damaged by hand."""

    code = "session_unreadable"


@dataclass(frozen=True, slots=True)
class TurnRef:
    """Names one turn wherever it is. The lane is that of the branch it was made on; None in the first format."""

    id: str
    lane: str | None = None

    @property
    def number(self) -> int:
        return number_of(self.id)

    @property
    def path(self) -> str:
        part = f"{(self.number - 1) // _PER_FOLDER:04d}"
        if self.lane is None:
            return f"{FOLDER}/{part}/{self.id}.json"
        # A folder for each: git takes files of like content for moved ones, and where a whole folder seems to have
        # moved, it reports a conflict for every file that the other side adds to it.
        return f"{FOLDER}/{self.lane}/{part}/{self.id}/turn.json"


def lane_of(branch: str) -> str:
    """The folder for turns made on `branch`: readable, and never the same for two branches."""
    plain = re.sub(r"[^a-z0-9]+", "-", branch.lower()).strip("-")[:24]
    digest = hashlib.sha256(branch.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{plain or 'branch'}-{digest[:8]}"


def pending_marks(common_dir: Path, branch: str) -> Path:
    """The file with what was marked in the context of `branch` and is in no commit yet; it may not be there."""
    name = hashlib.sha256(branch.encode("utf-8", "surrogateescape")).hexdigest()[:40]
    return common_dir / "forge" / "context" / name


def turn_id(number: int, mark: str) -> str:
    """Sorts by number; the mark keeps apart turns that two branches made with the same number."""
    return f"{number:06d}-{mark}"


def number_of(turn: str) -> int:
    found = _ID.fullmatch(turn)
    if found is None:
        raise InvalidInput(f"{turn!r} is not the id of a turn.", hint="`forge session list` shows them.")
    return int(found[1])


def ref_at(path: str) -> TurnRef | None:
    """The turn that a path below the session folder names, if it names one."""
    if found := _FILE.fullmatch(path):
        return TurnRef(found["id"], found["lane"])
    found = _FIRST_FILE.fullmatch(path)
    return TurnRef(found["id"]) if found else None


def json_bytes(data: Mapping[str, Any], *, unlike: str = "") -> bytes:
    """One key a line, so that people can read it and git can show what changed.

    Files that name what makes them `unlike` others are indented each in its own way. git takes a new file for a moved
    one when half of its lines are those of a file that is gone, and where both sides of a merge lost that one, it
    reports a conflict. Most lines of any two turns would be the same.
    """
    indent = _indent(unlike) if unlike else 1
    return json.dumps(data, indent=indent, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _indent(name: str) -> str:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    length = 12 + number % 8
    return "".join(" \t"[(number >> 3 >> place) & 1] for place in range(length))


POINTER = json_bytes(
    {
        "schema_version": SCHEMA_VERSION,
        "turns": FOLDER,
        "read": "Each turn is a file that names the turn before it. `forge session show --json` gives the messages and "
        "active_files of a branch.",
    }
)
