"""Reads YAML and JSON that strangers wrote: plain values and the line of each, or findings. Nothing here raises.

YAML has one meaning here, whatever its version: names are text, `true`, `false`, `null` and decimal numbers are what
they look like, and everything else is text. Aliases, anchors, tags and duplicate names are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from forge.contracts.kinds import Finding, Kind

Path = tuple[str | int, ...]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 40
_MOST_VALUES = 20_000
_INT = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,18}([eE][-+]?[0-9]{1,2})?", re.ASCII)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "": None, "~": None}


@dataclass(frozen=True, slots=True)
class Data:
    """`lines` has the line of each value by its path."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def line(self, path: Iterable[str | int]) -> int:
        """Of the value there, else of the nearest value around it."""
        at = tuple(path)
        while at and at not in self.lines:
            at = at[:-1]
        return self.lines.get(at, 1)


class _Refused(Exception):
    def __init__(self, code: str, line: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.told = (code, line, message, hint)


def read(kind: Kind, text: str) -> Data:
    """The value of a YAML or JSON contract."""
    return read_file(kind.file, text, is_json=kind.form == "json")


def read_file(file: str, text: str, *, is_json: bool = False) -> Data:
    """Of any file, which the findings name."""
    try:
        return _json(text) if is_json else _yaml(text)
    except _Refused as e:
        code, line, message, hint = e.told
        return Data(findings=(Finding(code, file, line, message, hint),))


def _yaml(text: str) -> Data:
    try:
        _refuse_tricks(text)
        node = yaml.compose(text, _LOADER)
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        # A text that ends too early is told with its last line.
        line = min(mark.line, text.count("\n")) + 1 if mark is not None else 1
        problem = getattr(e, "problem", None) or "it cannot be read"
        raise _Refused("yaml_invalid", line, f"This is not valid YAML: {problem}.", "Correct this line.") from e
    except ValueError as e:  # a character that YAML does not have, or an escape beyond Unicode
        raise _Refused("yaml_invalid", 1, "This has characters that YAML does not allow.", "Remove them.") from e
    lines: dict[Path, int] = {}
    return Data(_value(node, (), lines) if node is not None else None, lines)


def _refuse_tricks(text: str) -> None:
    """Before anything is built: what could unfold, nest or mean something else than it says."""
    depth = documents = 0
    for count, event in enumerate(yaml.parse(text, _LOADER)):
        line = event.start_mark.line + 1
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _Refused("yaml_alias", line, "Anchors and aliases are not allowed.", "Write the value out.")
        if getattr(event, "tag", None) not in (None, "!"):
            raise _Refused("yaml_tag", line, "Tags are not allowed.", "Leave the `!` out.")
        if depth > _DEEPEST:
            raise _too_deep(line)
        if count > _MOST_VALUES:
            raise _Refused("too_many_values", line, f"There are more than {_MOST_VALUES:,} values.", "Shorten it.")
        if documents > 1:
            raise _Refused("yaml_documents", line, "There is a second document.", "Remove the line `---`.")


def _value(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Any:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, (*path, number), lines) for number, each in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for name, each in node.value:
            line = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode):
                raise _Refused("name_invalid", line, "A list or a mapping is used as a name.", "Use text as names.")
            if name.value in found:
                raise _duplicate(name.value, line)
            found[name.value] = _value(each, (*path, name.value), lines)
            lines[(*path, name.value)] = line
        return found
    return _scalar(node.value, plain=not getattr(node, "style", None))


def _scalar(text: str, *, plain: bool) -> Any:
    if not plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _json(text: str) -> Data:
    try:
        value = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_no_constant)
    except json.JSONDecodeError as e:
        raise _Refused("json_invalid", e.lineno, f"This is not valid JSON: {e.msg}.", "Correct this line.") from e
    except RecursionError as e:
        raise _too_deep(1) from e
    except ValueError as e:  # a number of thousands of digits
        raise _Refused("json_invalid", 1, "A number has too many digits.", "Write it as text.") from e
    lines = _json_lines(text)
    return Data(_unpaired(value, (), lines), lines)


class _Pairs(list[tuple[str, Any]]):
    """An object as JSON has it, with names that occur twice."""


def _no_constant(name: str) -> None:
    raise _Refused("json_invalid", 1, f"{name} is not a JSON value.", "Use a number or null.")


def _unpaired(value: Any, path: Path, lines: dict[Path, int]) -> Any:
    if len(path) > _DEEPEST:
        raise _too_deep(Data(lines=lines).line(path))
    if isinstance(value, _Pairs):
        found: dict[str, Any] = {}
        for name, each in value:
            if name in found:
                raise _duplicate(name, Data(lines=lines).line((*path, name)))
            found[name] = _unpaired(each, (*path, name), lines)
        return found
    if isinstance(value, list):
        return [_unpaired(each, (*path, number), lines) for number, each in enumerate(value)]
    return value


def _json_lines(text: str) -> dict[Path, int]:
    """JSON is YAML, except for tabs; the last of two equal names has the line."""
    lines: dict[Path, int] = {}
    plain = text.replace("\t", " ")
    try:
        _refuse_tricks(plain)
        node = yaml.compose(plain, _LOADER)
        if node is not None:
            _note_lines(node, (), lines)
    except (yaml.YAMLError, ValueError, _Refused):
        return {}
    return lines


def _note_lines(node: yaml.Node, path: Path, lines: dict[Path, int]) -> None:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for number, each in enumerate(node.value):
            _note_lines(each, (*path, number), lines)
    elif isinstance(node, yaml.MappingNode):
        for name, each in node.value:
            _note_lines(each, (*path, str(name.value)), lines)


def _too_deep(line: int) -> _Refused:
    return _Refused("too_deep", line, f"Values are nested more than {_DEEPEST} deep.", "Make it flatter.")


def _duplicate(name: str, line: int) -> _Refused:
    return _Refused("name_duplicate", line, f"The name `{name[:80]}` occurs twice.", "Remove one of them.")
