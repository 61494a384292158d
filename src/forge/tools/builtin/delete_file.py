"""`delete_file`: one file goes."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.places import existing, refuse_internal


def get_schema() -> Json:
    return {
        "name": "delete_file",
        "description": "Delete one file. A folder disappears with its last file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    path = existing(vfs, args["path"])
    refuse_internal(path)
    vfs.delete_file(path)
    return f"Deleted {path}."
