"""`check_syntax`: whether a file parses."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools import syntax
from forge.tools.places import existing
from forge.tools.result_text import clipped, lines_of, plural, text_of
from forge.tools.tool import ToolFailed


def get_schema() -> Json:
    return {
        "name": "check_syntax",
        "description": (
            "Parse a file and give line and column of what is wrong: Python, JavaScript, TypeScript, Go, Rust, Java, "
            "C, C++, JSON, YAML, TOML. Types and names are not checked. Edits are checked by themselves."
        ),
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    path = existing(vfs, args["path"])
    if not syntax.is_known(path):
        raise ToolFailed(f"{path} cannot be checked: its language is not one of those known here.")
    text = text_of(vfs, path)
    if len(text) > syntax.LARGEST:
        raise ToolFailed(f"{path} is too large to be checked ({len(text):,} characters).")
    found = syntax.faults(path, text)
    if not found:
        return f"{path} parses."
    lines = lines_of(text)
    rows = [f"- {fault}\n    {clipped(lines[fault.line - 1], 160)}" for fault in found if fault.line <= len(lines)]
    beyond = [f"- {fault}" for fault in found if fault.line > len(lines)]
    return f"{path} does not parse ({plural(len(found), 'place')}):\n" + "\n".join([*rows, *beyond])
