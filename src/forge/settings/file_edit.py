"""Changes one value in the text of a settings file and nothing else: comments, order and quotes stay."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from forge.json_value import Json
from forge.settings.errors import SettingsNotEdited
from forge.settings.validation import parse


def changed(text: str, name: str, value: Any, *, path: Path) -> str:
    """`text` with the dotted `name` set to `value`. Refused where the result would differ in anything else."""
    names = name.split(".")
    wanted = _with(parse(text, str(path)), names, value)
    new = _edited(text, names, _written(value))
    try:
        got = yaml.safe_load(new) if new is not None else None
    except yaml.YAMLError:
        got = None
    if new is None or not isinstance(got, dict) or _set(got) != _set(wanted):
        raise SettingsNotEdited(
            f"`{name}` cannot be changed in {path} without touching other things; nothing was written.",
            hint=f"Edit {path} yourself; `forge config check` says whether it is right.",
        )
    return new


def _set(values: Json) -> Json:
    """Without what is null at the top: a section that is not there."""
    return {name: value for name, value in values.items() if value is not None}


def _with(values: Json, names: Sequence[str], value: Any) -> Json:
    values = copy.deepcopy(values)
    inner = values
    for name in names[:-1]:
        if not isinstance(inner.get(name), dict):
            inner[name] = {}
        inner = inner[name]
    inner[names[-1]] = value
    return values


def _written(value: Any) -> str:
    """A value on one line, as YAML reads it back. Plain words stay without quotes."""
    if isinstance(value, str):
        plain = yaml.safe_dump(value, allow_unicode=True, width=1_000_000).removesuffix("\n").removesuffix("\n...")
        # Inside braces these end a word; quotes keep them.
        return plain if not set(plain) & set(",[]{}#\n") else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _edited(text: str, names: Sequence[str], value: str) -> str | None:
    node = yaml.compose(text, yaml.SafeLoader)
    if node is None or _is_null(node):
        return _appended(text, names, value)
    line = 0
    for depth, name in enumerate(names):
        if not isinstance(node, yaml.MappingNode):
            return None
        found = next((pair for pair in node.value if pair[0].value == name), None)
        if found is None:
            return _inserted(text, node, names[depth:], value, after=line if depth else None)
        key, node = found
        line = key.start_mark.line
        if _is_null(node) and depth < len(names) - 1:
            return _replaced(text, key, node, _flow(names[depth + 1 :], value))
    return _replaced(text, key, node, value) if _on_one_line(node) else None


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _on_one_line(node: yaml.Node) -> bool:
    style = getattr(node, "style", None) if isinstance(node, yaml.ScalarNode) else None
    flow = isinstance(node, yaml.ScalarNode) or getattr(node, "flow_style", False)
    return bool(flow) and style not in ("|", ">") and node.start_mark.line == node.end_mark.line


def _replaced(text: str, key: yaml.Node, node: yaml.Node, value: str) -> str:
    if node.start_mark.index == node.end_mark.index:  # `key:` with nothing behind it
        colon = text.index(":", key.end_mark.index)
        return f"{text[: colon + 1]} {value}{text[colon + 1 :]}"
    return text[: node.start_mark.index] + value + text[node.end_mark.index :]


def _inserted(text: str, node: yaml.MappingNode, names: Sequence[str], value: str, *, after: int | None) -> str | None:
    if node.flow_style:
        start = node.start_mark.index + 1
        return f"{text[:start]}{names[0]}: {_rest(names, value)}{', ' if node.value else ''}{text[start:]}"
    if after is None:
        return _appended(text, names, value)
    lines = text.splitlines(keepends=True)
    new = f"{' ' * node.start_mark.column}{names[0]}: {_rest(names, value)}\n"
    return "".join([*lines[: after + 1], new, *lines[after + 1 :]])


def _appended(text: str, names: Sequence[str], value: str) -> str:
    gap = "" if not text or text.endswith("\n") else "\n"
    lines = [f"{'  ' * depth}{name}:" for depth, name in enumerate(names)]
    return f"{text}{gap}{chr(10).join(lines)} {value}\n"


def _rest(names: Sequence[str], value: str) -> str:
    return _flow(names[1:], value) if len(names) > 1 else value


def _flow(names: Sequence[str], value: str) -> str:
    for name in reversed(names):
        value = f"{{{name}: {value}}}"
    return value
