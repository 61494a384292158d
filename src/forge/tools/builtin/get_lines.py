"""`get_lines`: the lines around one line of a file."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.builtin.read_file import shown
from forge.tools.places import existing
from forge.tools.result_text import lines_of, plural, text_of
from forge.tools.tool import ToolRetry

_AROUND = 10


def get_schema() -> Json:
    return {
        "name": "get_lines",
        "description": "Show a line of a file with the lines around it, numbered. Good after search or a traceback.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer", "minimum": 1, "description": "The line in the middle, from 1."},
                "around": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 200,
                    "description": f"Lines before and after it; {_AROUND} if left out.",
                },
            },
            "required": ["path", "line"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    path = existing(vfs, args["path"])
    text = text_of(vfs, path)
    lines = lines_of(text)
    line, around = args["line"], args.get("around", _AROUND)
    if line > len(lines):
        raise ToolRetry(f"{path} has only {plural(len(lines), 'line')}; there is no line {line}.")
    return shown(path, text, lines, max(1, line - around), min(len(lines), line + around))
