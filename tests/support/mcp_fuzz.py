"""Calls that no honest agent makes: wrong types, huge values, hostile paths, other people's ids, made-up tools."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from forge.json_value import Json
from forge.mcp.tool import Tool

_HOSTILE = (
    "", " ", "\0", "..", "../../etc/passwd", "/etc/passwd", "a/../../b", ".git/config", "C:\\x", "%2e%2e/", "~root",
    "-rf", "--help", "refs/forge/drafts/x", "HEAD", "main", "draft~", "draft~x.y", "session~", "session~a@b", "@{u}",
    "a" * 5000, "\ud800", "\u202e", "💥" * 300, "{", "[]", "null", "1e999", "'; DROP TABLE keys; --", "$(id)", "%s%n",
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (None, True, -1, 2**70, 1.5, [], {}, [[["x"]]], {"a": {"b": None}}, ["x"] * 200)


def calls(tools: Sequence[Tool], known: Sequence[str], count: int, *, seed: int) -> list[tuple[str, Json]]:
    """`known` are ids and words that exist, and belong to somebody else."""
    chance = random.Random(seed)
    return [_call(chance, tools, known) for _ in range(count)]


def _call(chance: random.Random, tools: Sequence[Tool], known: Sequence[str]) -> tuple[str, Json]:
    tool = chance.choice(tools)
    name = tool.name if chance.random() < 0.97 else chance.choice(("", "forge_approve", "../x", tool.name.upper()))
    arguments: Json = {}
    for each, schema in tool.parameters.items():
        if each in tool.required or chance.random() < 0.5:
            arguments[each] = _value(chance, schema, known)
    if chance.random() < 0.1 and arguments:
        arguments.pop(chance.choice(list(arguments)))
    if chance.random() < 0.05:
        arguments[chance.choice(("extra", "__class__", "at\0"))] = 1
    return name, arguments


def _value(chance: random.Random, schema: Json, known: Sequence[str]) -> Any:
    drawn = chance.random()
    if drawn < 0.15:
        return chance.choice(_OTHERS)
    if "enum" in schema and drawn < 0.8:
        return chance.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return chance.choice((0, 1, 3, -5, 10**9))
        case "boolean":
            return chance.random() < 0.5
        case "array":
            return [chance.choice(_HOSTILE) for _ in range(chance.randrange(3))]
    return chance.choice([*_HOSTILE, *known, *known, *known])
