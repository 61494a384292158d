"""`search`: matching lines in all files, by text or regular expression."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools import search_result
from forge.tools.result_text import fitting, plural

_LIMIT = 100


def get_schema() -> Json:
    return {
        "name": "search",
        "description": "Find lines in the repository's files. Gives path, line number and text of each match.",
        "parameters": {
            "type": "object",
            "properties": {
                **search_result.PATTERN,
                "context": {"type": "integer", "minimum": 0, "maximum": 20, "description": "Lines around each match."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 500,
                    "description": f"Stop after so many matching lines; {_LIMIT} if left out.",
                },
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    limit = args.get("limit", _LIMIT)
    result = search_result.found(vfs, args, matches=limit, context=args.get("context", 0))
    said = search_result.remarks(result)
    if not result.files:
        return "\n".join([f"Nothing matches {args['pattern']!r}.", *said])
    rows = [row for file in result.files for row in search_result.rows(file)]
    count = fitting(rows)
    if count < len(rows):
        said.append("[Not all matches are shown: narrow the pattern or give `include`.]")
    if result.truncated == "matches":
        said.append(f"[Stopped at {limit} matching lines: there are more. Narrow it, or raise `limit` (at most 500).]")
    header = f"{plural(result.matches, 'matching line')} in {plural(len(result.files), 'file')}:"
    return "\n".join([header, *rows[:count], *said])
