"""The visible copy of approvals in a branch: a file for each, named by its content, in `.forge/approved_tools/`.

It approves nothing without the record. Two branches never write different bytes to the same path, so plain git merges
them. `.forge/approved_tools.json` has the same bytes on every branch and says where the approvals are; the first format
kept all of them in it, and is read until an approval is given or taken back on the branch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from forge.errors import Conflict
from forge.git import VFS, WorkInProgressVFS
from forge.sessions.layout import json_bytes

PATH = ".forge/approved_tools.json"
FOLDER = ".forge/approved_tools"
SCHEMA_VERSION = 2
FIRST_FORMAT = 1
_MOST = 1000
_FILE = re.compile(rf"{re.escape(FOLDER)}/[0-9a-f]{{16}}/approval\.json")

POINTER = json_bytes(
    {
        "schema_version": SCHEMA_VERSION,
        "approvals": FOLDER,
        "read": "Each approval is a file named by its content. It counts only with a record outside of the branch: "
        "`forge tools list` tells.",
    }
)


class ApprovalsUnreadable(Conflict):
    code = "approvals_unreadable"


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's word for one tool as it was: `hash` covers it and all that it imports."""

    path: str
    hash: str
    files: Mapping[str, str]
    approved_by: str
    approved_at: str


Listed = Mapping[str, tuple[Approval, ...]]
"""By tool name, newest first. A merge may leave several of one tool: those of both sides."""


def read_approvals(vfs: VFS) -> Listed:
    """What the branch lists. A file that cannot be understood lists nothing and says so."""
    found: dict[str, list[Approval]] = {}
    for name, approval in _first_format(vfs).items():
        found.setdefault(name, []).append(approval)
    for path in _files(vfs):
        name, approval = _read(vfs, path)
        found.setdefault(name, []).append(approval)
    return {name: tuple(sorted(each, key=lambda one: one.approved_at, reverse=True)) for name, each in found.items()}


def write_approvals(vfs: WorkInProgressVFS, given: Mapping[str, Approval | None]) -> None:
    """List these in place of whatever is listed for their tools; None lists nothing. Nothing else writes the copy.

    What cannot be read is not kept: it approves nothing.
    """
    wanted: dict[str, Approval | None] = {}
    with suppress(ApprovalsUnreadable):
        wanted |= {name: each for name, each in _first_format(vfs).items() if name.isidentifier()}
    for path in _files(vfs):
        try:
            name, _ = _read(vfs, path)
        except ApprovalsUnreadable:
            name = None
        if name is None or name in given:
            vfs.delete_record(path)
    for name, approval in {**wanted, **given}.items():
        if approval is not None:
            data = {"schema_version": SCHEMA_VERSION, "tool": name, **asdict(approval)}
            digest = sha256(json_bytes(data)).hexdigest()[:16]
            # Of two approvals few lines are the same: git must not take one for another that was moved.
            vfs.write_record(f"{FOLDER}/{digest}/approval.json", json_bytes(data, unlike=digest))
    vfs.write_record(PATH, POINTER)


def approval_from_json(data: Mapping[str, Any]) -> Approval:
    return Approval(
        str(data["path"]),
        str(data["hash"]),
        {str(path): str(digest) for path, digest in data["files"].items()},
        str(data["approved_by"]),
        str(data["approved_at"]),
    )


def _files(vfs: VFS) -> list[str]:
    """The newest format's, as many as anybody gives; more of them somebody made up."""
    return [path for path in vfs.list_files(f"{FOLDER}/") if _FILE.fullmatch(path)][:_MOST]


def _first_format(vfs: VFS) -> dict[str, Approval]:
    """The approvals in `.forge/approved_tools.json`, where that is not the pointer."""
    if not vfs.file_exists(PATH):
        return {}
    data = _loaded(vfs, PATH)
    try:
        if data["schema_version"] == SCHEMA_VERSION:
            return {}
        return {str(name): approval_from_json(each) for name, each in data["tools"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _unreadable(PATH, e) from e


def _read(vfs: VFS, path: str) -> tuple[str, Approval]:
    data = _loaded(vfs, path)
    try:
        return str(data["tool"]), approval_from_json(data)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _unreadable(path, e) from e


def _loaded(vfs: VFS, path: str) -> Mapping[str, Any]:
    try:
        data: Mapping[str, Any] = json.loads(vfs.read_bytes(path))
        if data["schema_version"] > SCHEMA_VERSION:
            raise ApprovalsUnreadable(f"{path} was written by a newer Forge.", hint="Upgrade Forge.")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise _unreadable(path, e) from e
    return data


def _unreadable(path: str, why: Exception) -> ApprovalsUnreadable:
    return ApprovalsUnreadable(
        f"{path} cannot be read: {why}", hint="Take it back from an earlier commit with git, or delete it with git."
    )
