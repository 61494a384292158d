"""The tool with which a model takes up a skill: its instructions come when they are needed, not before."""

from __future__ import annotations

from forge.context.instructions import skill_body
from forge.git import WorkInProgressVFS
from forge.json_value import Json


def get_schema() -> Json:
    return {
        "name": "use_skill",
        "description": "Read the instructions of a skill that the conversation lists, before doing what it is for.",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The skill's name."}},
            "required": ["name"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    return skill_body(vfs, args["name"])
