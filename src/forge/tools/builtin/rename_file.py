"""`rename_file`: a file gets another name or place, with its mode and content."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.places import existing, refuse_internal, writable
from forge.tools.tool import ToolRetry


def get_schema() -> Json:
    return {
        "name": "rename_file",
        "description": "Rename or move one file. Nothing may be at the new path. Imports of it are not adjusted.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file as it is now."},
                "new_path": {"type": "string", "description": "Its full new path, such as src/core/names.py."},
            },
            "required": ["path", "new_path"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    old = existing(vfs, args["path"])
    refuse_internal(old)
    new = writable(vfs, args["new_path"])
    if new == old:
        raise ToolRetry(f"{old} has this name already.")
    found = vfs.entry(new)
    if found is not None and found.is_tree:
        raise ToolRetry(f"{new} is a folder; give the full new path, such as {new}/{old.rpartition('/')[2]}.")
    vfs.rename_file(old, new)
    return f"Renamed {old} to {new}."
