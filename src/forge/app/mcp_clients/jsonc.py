"""JSON with comments: read it, and change one entry of one section. Everything else stays as it is, byte for byte."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from forge.errors import InvalidInput
from forge.json_value import Json

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_PLAIN = re.compile(r"[^\s,\]}/]+")
_LINE_END = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\n)")


class ConfigurationUnreadable(InvalidInput):
    """The configuration of a program is not what that program would read."""

    code = "configuration_unreadable"


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int
    value: int
    end: int


def read(text: str) -> Json:
    """The object that is written there; an empty text is an empty object."""
    if not text.strip():
        return {}
    found = _plain(text)
    try:
        value = json.loads(found)
    except ValueError as e:
        raise _unreadable() from e
    if not isinstance(value, dict):
        raise _unreadable()
    return value


def with_entry(text: str, section: str, name: str, value: Json) -> str:
    """With `value` as the entry `name` of the section."""
    if not text.strip():
        return json.dumps({section: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    top = _start(text)
    found = _member(text, top, section)
    if found is None:
        return _inserted(text, top, section, {name: value}, depth=1)
    if text[found.value] != "{":
        raise _unreadable()
    old = _member(text, found.value, name)
    if old is None:
        return _inserted(text, found.value, name, value, depth=2)
    if read(text)[section][name] == value:
        return text
    return text[: old.value] + _written(text, value, 2) + text[old.end :]


def without_entry(text: str, section: str, name: str) -> str:
    """Without it, and without the section if that is empty then."""
    top = _start(text)
    found = _member(text, top, section)
    old = _member(text, found.value, name) if found is not None and text[found.value] == "{" else None
    if found is None or old is None:
        return text
    if len(_members(text, found.value)) == 1:
        return _removed(text, top, section)
    return _removed(text, found.value, name)


def _inserted(text: str, opening: int, name: str, value: Json, *, depth: int) -> str:
    """As the first member, so that comments stay beside what they are about."""
    step = _indent(text)
    line = f"\n{step * depth}{json.dumps(name)}: {_written(text, value, depth)}"
    if not _members(text, opening):
        closing = _BLANK.match(text, opening + 1)
        assert closing is not None
        return text[: opening + 1] + closing[0].rstrip() + line + f"\n{step * (depth - 1)}" + text[closing.end() :]
    rest = _LINE_END.match(text, opening + 1)
    at = rest.end() if rest is not None else opening + 1
    return text[:at] + line + "," + text[at:]


def _removed(text: str, opening: int, name: str) -> str:
    members = _members(text, opening)
    place = next(number for number, each in enumerate(members) if each.key == name)
    own = members[place]
    before = text[: own.start].rstrip(" \t").removesuffix("\n")
    comma = _blank(text, own.end)
    if text[comma] == ",":
        return before + text[comma + 1 :]
    if place > 0:
        return text[: members[place - 1].end] + text[own.end :]
    return before + text[own.end :].lstrip()


def _written(text: str, value: Json, depth: int) -> str:
    step = _indent(text)
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", f"\n{step * depth}")


def _indent(text: str) -> str:
    found = re.search(r"\n([ \t]+)\"", text)
    return found[1] if found is not None else "  "


def _start(text: str) -> int:
    at = _blank(text, 0)
    if text[at] != "{":
        raise _unreadable()
    return at


def _member(text: str, opening: int, key: str) -> _Member | None:
    return next((each for each in _members(text, opening) if each.key == key), None)


def _members(text: str, opening: int) -> list[_Member]:
    """Of the object that opens there."""
    found: list[_Member] = []
    at = _blank(text, opening + 1)
    while text[at] != "}":
        named = _STRING.match(text, at)
        if named is None:
            raise _unreadable()
        colon = _blank(text, named.end())
        if text[colon] != ":":
            raise _unreadable()
        value = _blank(text, colon + 1)
        end = _end(text, value)
        found.append(_Member(json.loads(named[0]), at, value, end))
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    return found


def _end(text: str, at: int) -> int:
    """Where the value that begins there ends."""
    match text[at]:
        case '"':
            found = _STRING.match(text, at)
        case "{":
            members = _members(text, at)
            last = _blank(text, members[-1].end if members else at + 1)
            return (_blank(text, last + 1) if text[last] == "," else last) + 1
        case "[":
            return _list_end(text, at)
        case _:
            found = _PLAIN.match(text, at)
    if found is None:
        raise _unreadable()
    return found.end()


def _list_end(text: str, at: int) -> int:
    at = _blank(text, at + 1)
    while text[at] != "]":
        at = _blank(text, _end(text, at))
        if text[at] == ",":
            at = _blank(text, at + 1)
    return at + 1


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    if found.end() >= len(text):
        raise _unreadable()
    return found.end()


def _plain(text: str) -> str:
    """Without comments and without commas before a closing bracket."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        string = _STRING.match(text, at) if text[at] == '"' else None
        blank = _BLANK.match(text, at)
        if string is not None:
            parts.append(string[0])
            at = string.end()
        elif blank is not None and blank.end() > at:
            parts.append(" ")
            at = blank.end()
        else:
            parts.append(text[at])
            at += 1
    return re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', lambda found: found[1] or "", "".join(parts))


def _unreadable() -> ConfigurationUnreadable:
    return ConfigurationUnreadable("It is not JSON with comments.", hint="Repair the file, then try again.")
