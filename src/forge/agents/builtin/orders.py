"""Plain sentences to tool calls. What no rule matches completely is not understood, and then nothing is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from forge.json_value import Json

Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class Order:
    """One call, and the subject line of a commit if it changes files."""

    tool: str
    arguments: Json
    subject: str = ""


_QUOTED = r"(?:`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+')"
_FILE = rf"(?:{_QUOTED}|[\w@+~-][\w./@+~-]*|\.[\w./@+~-]+)"
# Without the word "file" or quotes, only what has a dot or a slash is taken for a path.
_PATH = rf"(?:{_QUOTED}|\.?[\w@+~-]+(?:[./][\w@+~-]+)+/?|\.[\w-]+)"
_THING = rf"(?:{_QUOTED}|[^\s`\"']+)"
_CREATE = r"(?:create|write|make|add)(?: an?| the)?(?: new)?"
# Content follows a word such as "with", or stands in a fenced block.
_WITH = r"[,:]?\s*(?:(?:with|containing|saying|:)(?: the)?(?: contents?| text| lines?)?:?\s+|(?=```))(?P<content>.+)"
_FENCED = re.compile(r"\A\s*```[^\n]*\n(?P<body>.*?)\n?```\s*\Z", re.S)
_POLITE = re.compile(r"^(?:please|now|then|also|ok(?:ay)?|(?:can|could|would) you(?: please)?|and)[\s,]+", re.I)


def orders(text: str) -> tuple[Order, ...] | str:
    """What `text` asks for, one or more orders; or the piece of it that no rule understands."""
    pieces = [text] if "```" in text else _pieces(text)
    found = [_order(piece) for piece in pieces]
    understood = tuple(order for order in found if order is not None)
    if understood and len(understood) == len(pieces):
        return understood
    whole = _order(text)  # text to write may itself have several lines
    if whole is not None:
        return (whole,)
    return next((piece for piece, order in zip(pieces, found, strict=True) if order is None), text)


def _pieces(text: str) -> list[str]:
    lines = (re.sub(r"^\s*(?:[-*]|\d+[.)])\s+", "", line) for line in text.splitlines())
    pieces = (piece for line in lines for piece in re.split(r";\s+|,?\s+(?:and )?then\s+|\.\s+(?=[A-Z])", line))
    return [piece for piece in pieces if piece.strip()]


def _order(text: str) -> Order | None:
    text = text.strip()
    while (shorter := _POLITE.sub("", text)) != text:
        text = shorter
    for rule, build in _RULES:
        found = rule.fullmatch(text)
        if found is not None:
            return build(found)
    return None


def _bare(text: str) -> str:
    """Without its quotes."""
    text = text.strip()
    return text[1:-1] if re.fullmatch(_QUOTED, text) else text


def _content(text: str) -> str:
    fenced = _FENCED.match(text)
    if fenced is not None:
        return fenced["body"] + "\n"
    body = _bare(text)
    return body if body.endswith("\n") or not body else body + "\n"


def _path(text: str) -> str:
    """Without its quotes and the full stop of the sentence."""
    return _bare(text.rstrip("."))


def _write(found: Match) -> Order:
    path = _path(found["path"])
    return Order("write_file", {"path": path, "content": _content(found["content"])}, f"Write {path}")


def _write_nothing(found: Match) -> Order:
    path = _path(found["path"])
    return Order("write_file", {"path": path, "content": ""}, f"Create {path}")


def _replace(found: Match) -> Order:
    path = _path(found["path"])
    arguments: Json = {"path": path, "search": _bare(found["old"]), "replace": _bare(found["new"])}
    if found["all"]:
        arguments["all"] = True
    return Order("search_replace", arguments, f"Replace text in {path}")


def _delete(found: Match) -> Order:
    path = _path(found["path"])
    return Order("delete_file", {"path": path}, f"Delete {path}")


def _rename(found: Match) -> Order:
    old, new = _path(found["path"]), _path(found["new"])
    return Order("rename_file", {"path": old, "new_path": new}, f"Rename {old} to {new}")


def _add_context(found: Match) -> Order:
    paths = [_path(path) for path in re.findall(_FILE, re.sub(r"\band\b", " ", found["paths"]))]
    return Order("update_context", {"add": [{"path": path} for path in paths]})


def _drop_context(found: Match) -> Order:
    return Order("update_context", {"remove": [_path(found["path"])]})


def _show(found: Match) -> Order:
    arguments: Json = {"path": _path(found["path"])}
    if found["start"]:
        arguments |= {"start_line": int(found["start"]), "end_line": int(found["end"] or found["start"])}
    return Order("read_file", arguments)


def _find(found: Match) -> Order:
    return Order("search", {"pattern": _bare(found["what"])})


def _list(found: Match) -> Order:
    return Order("list_files", {"path": _path(found["path"]).rstrip("/")} if found["path"] else {})


def _tests(found: Match) -> Order:
    return Order("run_tests", {"arguments": [_path(found["path"])]} if found["path"] else {})


def _run(found: Match) -> Order:
    return Order("run_command", {"command": _bare(found["command"])})


def _syntax(found: Match) -> Order:
    return Order("check_syntax", {"path": _path(found["path"])})


def _rule(pattern: str, build: Callable[[Match], Order]) -> tuple[re.Pattern[str], Callable[[Match], Order]]:
    return re.compile(pattern, re.I | re.S), build


# The first that matches the whole sentence is taken, so the special ones come before the general ones.
_RULES = (
    _rule(
        rf"(?:run|execute)(?: all)?(?: of)?(?: the| my| its)? tests?(?: suite)?(?: (?:in|of) (?P<path>{_FILE}))?[.!]?",
        _tests,
    ),
    _rule(rf"(?:run|execute)(?: the)?(?: command)?:? (?P<command>{_QUOTED})[.!]?", _run),
    _rule(r"\$ (?P<command>[^\n]+)", _run),
    _rule(rf"check(?: the)? syntax (?:of|in) (?P<path>{_FILE})[.!]?", _syntax),
    _rule(
        rf"(?:add|put|include|open)(?: the)?(?: files?)? (?P<paths>{_FILE}(?:(?:,| and|, and) {_FILE})*)"
        r" (?:to|into|in)(?: the| your| my)? context[.!]?",
        _add_context,
    ),
    _rule(
        rf"(?:remove|drop|take|close) (?P<path>{_FILE}) (?:out of|from|in)(?: the| your| my)? context[.!]?",
        _drop_context,
    ),
    _rule(rf"{_CREATE}(?: file)?(?: called| named)?:? (?P<path>{_PATH}){_WITH}", _write),
    _rule(rf"{_CREATE} file(?: called| named)?:? (?P<path>{_FILE}){_WITH}", _write),
    _rule(rf"{_CREATE} empty file(?: called| named)?:? (?P<path>{_FILE})[.!]?", _write_nothing),
    _rule(
        rf"(?:write|put|save) (?P<content>{_QUOTED}) (?:to|into|in)(?: the)?(?: file)? (?P<path>{_FILE})[.!]?", _write
    ),
    _rule(
        rf"(?:replace|change|substitute)(?P<all> all| every)?(?: occurrences? of)? (?P<old>{_THING}) "
        rf"(?:with|by|to|for) (?P<new>{_THING}) in(?: the)?(?: file)? (?P<path>{_FILE}?)[.!]?",
        _replace,
    ),
    _rule(rf"(?:delete|remove)(?: the)? file (?P<path>{_FILE}?)[.!]?", _delete),
    _rule(rf"(?:delete|remove) (?P<path>{_PATH}?)[.!]?", _delete),
    _rule(rf"(?:rename|move)(?: the)?(?: file)? (?P<path>{_FILE}) (?:to|as|into) (?P<new>{_FILE}?)[.!]?", _rename),
    _rule(
        rf"(?:list|show)(?: me)?(?: all)?(?: of)?(?: the)? files(?: (?:in|of|below|under) (?P<path>{_FILE}?))?[.!]?",
        _list,
    ),
    _rule(rf"list (?P<path>{_PATH}?)[.!]?", _list),
    _rule(
        rf"(?:show|read|open|print|cat|display|view|what is in|what's in)(?: me)?(?: the)?(?: file| contents? of)? "
        rf"(?P<path>{_PATH}?)(?:,? (?:from )?lines? (?P<start>\d+)(?: ?(?:-|–|to) ?(?P<end>\d+))?)?[.?!]?",
        _show,
    ),
    _rule(
        r"(?:find|search(?: for)?|grep(?: for)?|look for|where(?: is|'s| are))(?: the)?(?: word| function| class)?"
        rf" (?P<what>{_THING}?)(?: defined| used| declared)?[.?!]?",
        _find,
    ),
)
