"""`search_replace`: one exact text in a file becomes another; what does not fit exactly is explained, never guessed."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools import syntax
from forge.tools.builtin.write_file import is_crlf
from forge.tools.nearest_text import explanation
from forge.tools.places import existing, refuse_internal
from forge.tools.result_text import lines_of, text_of
from forge.tools.tool import ToolRetry

_LARGEST = 16_000_000
_PLACES = 10


def get_schema() -> Json:
    return {
        "name": "search_replace",
        "description": (
            "Replace an exact text in a file. `search` must occur exactly once, white space included: give enough "
            "lines around the change to make it unique. `count` says how many occurrences you expect, all of which "
            "are replaced; `all` replaces any number. Line ends of the file are kept."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "search": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Copied from the file, without line numbers; may span lines.",
                },
                "replace": {"type": "string", "maxLength": 2_000_000, "description": "May be empty, which deletes."},
                "count": {"type": "integer", "minimum": 1},
                "all": {"type": "boolean"},
            },
            "required": ["path", "search", "replace"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    path = existing(vfs, args["path"])
    refuse_internal(path)
    text = text_of(vfs, path)
    search, replace = _fitted(text, args["search"], args["replace"])
    if search == replace:
        raise ToolRetry("`search` and `replace` are the same: nothing would change.")
    found = text.count(search)
    if found == 0:
        raise ToolRetry(f"`search` does not occur in {path}; nothing was changed.\n{explanation(text, search)}")
    if not args.get("all") and found != args.get("count", 1):
        raise ToolRetry(_ambiguous(path, text, search, found, args.get("count")))
    if len(text) + found * (len(replace) - len(search)) > _LARGEST:
        raise ToolRetry(f"{path} would become larger than {_LARGEST:,} characters; nothing was changed.")
    lines = _places(text, search)
    new = text.replace(search, replace)
    vfs.write_file(path, new)
    return f"{_done(path, lines, found, replace)}{syntax.warning(path, text, new)}"


def _fitted(text: str, search: str, replace: str) -> tuple[str, str]:
    """Both texts with the line ends that the file has, where the model sent other ones."""
    if "\r\n" in text and "\r" not in search and (is_crlf(text) or search not in text):
        return search.replace("\n", "\r\n"), _plain(replace).replace("\n", "\r\n")
    if "\r\n" not in text and "\r\n" in search:
        return _plain(search), _plain(replace)
    return search, replace


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _places(text: str, search: str) -> list[int]:
    """The lines where the first occurrences begin."""
    lines: list[int] = []
    at, line, last = text.find(search), 1, 0
    while at >= 0 and len(lines) < _PLACES:
        line += text.count("\n", last, at)
        lines.append(line)
        last, at = at, text.find(search, at + len(search))
    return lines


def _ambiguous(path: str, text: str, search: str, found: int, expected: int | None) -> str:
    lines = ", ".join(map(str, _places(text, search))) + (", …" if found > _PLACES else "")
    wanted = f"{expected} were expected" if expected else "it must occur once"
    return (
        f"`search` occurs {found} times in {path} (at lines {lines}); {wanted}. Nothing was changed. Add lines around "
        f"it to name one place, or give `count`: {found} or `all`: true to replace all of them."
    )


def _done(path: str, lines: list[int], found: int, replace: str) -> str:
    if found == 1:
        last = lines[0] + max(len(lines_of(replace)), 1) - 1
        where = f"line {lines[0]}" if last == lines[0] else f"lines {lines[0]}-{last}"
        return f"Replaced 1 occurrence in {path}, now at {where}."
    more = ", …" if found > len(lines) else ""
    return f"Replaced {found} occurrences in {path}, at what were lines {', '.join(map(str, lines))}{more}."
