"""The visible copy of approvals in a branch, `.forge/approved_tools.json`. It approves nothing without the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from forge.errors import Conflict
from forge.git import VFS

PATH = ".forge/approved_tools.json"
SCHEMA_VERSION = 1


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


def read_approvals(vfs: VFS) -> dict[str, Approval]:
    """By tool name. A file that cannot be understood lists nothing and says so."""
    if not vfs.file_exists(PATH):
        return {}
    try:
        data = json.loads(vfs.read_bytes(PATH))
        if data["schema_version"] > SCHEMA_VERSION:
            raise ApprovalsUnreadable(f"{PATH} was written by a newer Forge.", hint="Upgrade Forge.")
        return {str(name): approval_from_json(each) for name, each in data["tools"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise ApprovalsUnreadable(
            f"{PATH} cannot be read: {e}", hint="Take it back from an earlier commit with git, or delete it with git."
        ) from e


def write_approvals(vfs: VFS, approvals: Mapping[str, Approval]) -> None:
    """The one place that writes the visible copy."""
    data = {
        "schema_version": SCHEMA_VERSION,
        "tools": {name: asdict(approval) for name, approval in sorted(approvals.items())},
    }
    vfs.write_record(PATH, json.dumps(data, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")


def approval_from_json(data: Mapping[str, Any]) -> Approval:
    return Approval(
        str(data["path"]),
        str(data["hash"]),
        {str(path): str(digest) for path, digest in data["files"].items()},
        str(data["approved_by"]),
        str(data["approved_at"]),
    )
