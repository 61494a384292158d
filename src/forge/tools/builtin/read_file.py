"""`read_file`: the text of a file with line numbers, page by page."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.places import existing
from forge.tools.result_text import fitting, lines_of, numbered, plural, text_of
from forge.tools.tool import ToolRetry


def get_schema() -> Json:
    return {
        "name": "read_file",
        "description": (
            "Read a text file. Each line comes as its number, a tab, and the text; the number and the tab are not part "
            "of the file. Long files come in pages: the last line of the result says how to read on."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "From the repository's root, such as src/app.py."},
                "start_line": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
                "end_line": {"type": "integer", "minimum": 1, "description": "Last line, included."},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    path = existing(vfs, args["path"])
    text = text_of(vfs, path)
    lines = lines_of(text)
    first, last = args.get("start_line", 1), min(args.get("end_line", len(lines)), len(lines))
    if not lines:
        return f"{path} is empty."
    if first > len(lines):
        raise ToolRetry(f"{path} has only {plural(len(lines), 'line')}; start_line is {first}.")
    if args.get("end_line", first) < first:
        raise ToolRetry(f"end_line ({args['end_line']}) is before start_line ({first}).")
    return shown(path, text, lines, first, last)


def shown(path: str, text: str, lines: list[str], first: int, last: int) -> str:
    """Lines `first` to `last`, as many as fit, between a line on what they are and one on how to continue."""
    rows = numbered(lines[first - 1 : last], first)
    count = fitting(rows)
    end = first + count - 1
    ends = ", CRLF line ends" if "\r\n" in text else ""
    header = f"{path} ({plural(len(lines), 'line')}{ends})"
    if (first, end) != (1, len(lines)):
        header += f", lines {first}-{end}"
    footer = f"\n[More follows: read on with start_line={end + 1}.]" if end < last else ""
    return f"{header}\n" + "\n".join(rows[:count]) + footer
