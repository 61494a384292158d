"""`grep_open`: search, and put the files that match into the context."""

from __future__ import annotations

from forge.git import FileMatches, WorkInProgressVFS
from forge.json_value import Json
from forge.sessions.active import ActiveFile, read_active
from forge.tools import search_result
from forge.tools.builtin.update_context import added, merged, saved
from forge.tools.result_text import lines_of, plural

_LIMIT = 5
_WHOLE = 300
_AROUND = 20
_SEEN = 3


def get_schema() -> Json:
    return {
        "name": "grep_open",
        "description": (
            "Search like `search`, and put the files that match into your context. Files of more than "
            f"{_WHOLE} lines come in with the {_AROUND} lines around each match."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                **search_result.PATTERN,
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 20,
                    "description": f"Open at most so many files; {_LIMIT} if left out.",
                },
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    limit = args.get("limit", _LIMIT)
    result = search_result.found(vfs, args, matches=2_000, per_file=50)
    if not result.files:
        return "\n".join(
            [f"Nothing matches {args['pattern']!r}; the context is unchanged.", *search_result.remarks(result)]
        )
    # Files with the most matches first: of many, they are the likeliest to be about it.
    ranked = sorted(result.files, key=lambda file: (-len(file.matches), file.path))
    files = {file.path: file for file in read_active(vfs)}
    rows = []
    for match in ranked[:limit]:
        files[match.path] = _opened(vfs, files.get(match.path), match)
        rows += search_result.rows(match._replace(matches=match.matches[:_SEEN]))
    more = len(ranked) - limit
    closed = f"[{plural(more, 'more file')} matched and stayed closed: narrow the pattern or raise `limit`.]"
    said = [closed] if more > 0 else []
    return "\n".join([saved(vfs, files.values()), "First matches:", *rows, *said, *search_result.remarks(result)])


def _opened(vfs: WorkInProgressVFS, old: ActiveFile | None, match: FileMatches) -> ActiveFile:
    count = len(lines_of(vfs.read_bytes(match.path).decode("utf-8", "replace")))
    if count <= _WHOLE:
        return ActiveFile(match.path)
    lines = [found.line for found in match.matches]
    return added(old, match.path, merged((max(1, at - _AROUND), min(count, at + _AROUND)) for at in lines))
