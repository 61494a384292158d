"""Main points of files that are no programs: headings, top-level keys, names and scripts of packages, first lines.

Values of settings are never shown, only their keys.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

_MOST = 24
_MOST_LINES = 5_000
_HEADING = re.compile(r"(#{1,3})[ \t]+(\S.{0,200})")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)$")
_YAML_KEY = re.compile(
    r"^(?:([A-Za-z_][\w./-]{0,60})|\"([^\"\n]{1,60})\"|'([^'\n]{1,60})')[ \t]*:(?=\s|$)", re.MULTILINE
)
_JSON_KEY = re.compile(r"^(?:  |\t|    )\"([^\"\n]{1,60})\"[ \t]*:", re.MULTILINE)
_TOML_KEY = re.compile(r"^(?:\[\[?([^\]\n]{1,80})\]|([A-Za-z_][\w.-]{0,60})[ \t]*=)", re.MULTILINE)
_INI_KEY = re.compile(r"^(?:\[([^\]\n]{1,80})\]|([A-Za-z_][\w.-]{0,60})[ \t]*[=:])", re.MULTILINE)
_ENV_KEY = re.compile(r"^(?:export[ \t]+)?([A-Za-z_]\w{0,60})[ \t]*=", re.MULTILINE)
_TARGET = re.compile(r"^([A-Za-z0-9][\w./-]{0,40})(?:[ \t][^\n=]{0,80})?:(?!=)", re.MULTILINE)
_MODULE = re.compile(r"^module[ \t]+(\S{1,120})", re.MULTILINE)
_NOISE = " \t#/*;-=_<>!\"'`.|+~\ufeff"


def outline(text: str, how: str) -> str:
    """The main points, comma-separated; empty if there are none or the text is not what it should be."""
    try:
        return _READERS[how](text)
    except (ValueError, RecursionError, TypeError, AttributeError):
        return first_lines(text) if how in _WITHOUT_VALUES else ""


def first_lines(text: str) -> str:
    """The first line that says something, and the next one if the first is short."""
    said: list[str] = []
    for line in text[:4000].splitlines()[:40]:
        words = line.lstrip(_NOISE).rstrip("\"'`*/ \t")
        if line.startswith(("#!", "<?xml", "<!DOCTYPE", "<!doctype")):
            continue
        if sum(letter.isalnum() for letter in words[:80]) < 3:
            continue
        said.append(words[:160])
        if len(" · ".join(said)) > 80:
            break
    return " · ".join(said[:3])


def _listed(names: Iterable[object]) -> str:
    seen = dict.fromkeys(" ".join(str(name).split())[:60] for name in names)
    return ", ".join(list(seen)[:_MOST])


def _markdown(text: str) -> str:
    body = text
    if text.startswith("---\n"):
        body = text.partition("\n---")[2] or text
    found = [(len(match[1]), match[2].strip().rstrip("#").strip()) for match in _headings(body)]
    if not found:
        return first_lines(body)
    top = min(level for level, _ in found)
    first = found[0][1]
    rest = [title for level, title in found[1:] if level <= top + 1]
    return f"{first} › {_listed(rest)}" if rest else first


def _headings(text: str) -> Iterator[re.Match[str]]:
    """Those outside of fenced code."""
    fence = ""
    for line in text.splitlines()[:_MOST_LINES]:
        marks = _FENCE.match(line[:200])
        if fence:
            if marks and not marks[2].strip() and marks[1].startswith(fence):
                fence = ""
        elif marks:
            fence = marks[1]
        elif heading := _HEADING.match(line):
            yield heading


def _keys(pattern: re.Pattern[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        return _listed(next(filter(None, match.groups()), "") for match in pattern.finditer(text))

    return read


def _json(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return _keys(_JSON_KEY)(text)  # with comments, or broken: the usual indentation still tells
    if isinstance(value, dict):
        return _listed(value)
    if isinstance(value, list):
        first = value[0] if value else None
        inside = f": {_listed(first)}" if isinstance(first, dict) and first else ""
        return f"list of {len(value):,}{inside}"
    return type(value).__name__


def _package(text: str) -> str:
    data = _mapping(json.loads(text))
    parts = [str(data.get("name", ""))[:80]]
    scripts = _mapping(data.get("scripts", {}))
    if scripts:
        parts.append(f"scripts {_listed(scripts)}")
    for key, word in (("workspaces", "workspaces"), ("dependencies", "needs")):
        value = data.get(key)
        if value and isinstance(value, (dict, list)):
            parts.append(f"{word} {_listed(list(value)[:8])}")
    return "; ".join(filter(None, parts))


def _pyproject(text: str) -> str:
    data = tomllib.loads(text)
    project = _mapping(data.get("project") or _mapping(_mapping(data.get("tool", {})).get("poetry", {})))
    parts = [str(project.get("name", ""))[:80]]
    scripts = _mapping(project.get("scripts", {}))
    if scripts:
        parts.append(f"scripts {_listed(scripts)}")
    tools = _mapping(data.get("tool", {}))
    if tools:
        parts.append(f"tools {_listed(tools)}")
    return "; ".join(filter(None, parts)) or _listed(data)


def _cargo(text: str) -> str:
    data = tomllib.loads(text)
    parts = [str(_mapping(data.get("package", {})).get("name", ""))[:80]]
    members = _mapping(data.get("workspace", {})).get("members")
    if isinstance(members, list):
        parts.append(f"workspace of {_listed(members[:8])}")
    needs = _mapping(data.get("dependencies", {}))
    if needs:
        parts.append(f"needs {_listed(list(needs)[:8])}")
    return "; ".join(filter(None, parts)) or _listed(data)


def _go_module(text: str) -> str:
    found = _MODULE.search(text)
    return found[1] if found else first_lines(text)


def _makefile(text: str) -> str:
    return _listed(match[1] for match in _TARGET.finditer(text))


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(value)
    return value


_READERS: Mapping[str, Callable[[str], str]] = {
    "lines": first_lines,
    "markdown": _markdown,
    "json": _json,
    "yaml": _keys(_YAML_KEY),
    "toml": _keys(_TOML_KEY),
    "ini": _keys(_INI_KEY),
    "env": _keys(_ENV_KEY),
    "package.json": _package,
    "pyproject": _pyproject,
    "cargo": _cargo,
    "go.mod": _go_module,
    "makefile": _makefile,
}
_WITHOUT_VALUES = frozenset({"lines", "markdown", "go.mod"})
