"""Finds where a program does not parse. Also runs alone, as a process that can be ended: error recovery in
tree-sitter can take minutes on text that is no program at all, and nothing within a process can stop it."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib import import_module
from typing import Any

MOST = 10

Place = tuple[int, int, str]
"""Line and column from 1, and what is wrong there."""


@cache
def _parser(module: str, function: str) -> Any:
    from tree_sitter import Language, Parser  # noqa: PLC0415 - grammars load when a file needs them

    return Parser(Language(getattr(import_module(module), function)()))


def places(text: str, module: str, function: str) -> list[Place]:
    """The first places where the grammar `function` of `module` does not fit `text`."""
    data = text.encode("utf-8", "replace")
    root = _parser(module, function).parse(data).root_node
    found: list[Place] = []
    waiting = [root] if root.has_error else []
    while waiting and len(found) < MOST:
        node = waiting.pop()
        if node.is_missing:
            found.append(_at(data, node, f"`{node.type}` is missing"))
        elif node.is_error:
            found.append(_at(data, node, _unexpected(data[node.start_byte : node.end_byte])))
        else:
            waiting += [child for child in reversed(node.children) if child.has_error or child.is_missing]
    return found


def _at(data: bytes, node: Any, what: str) -> Place:
    row, column = node.start_point
    start = node.start_byte - column
    return row + 1, len(data[start : node.start_byte].decode("utf-8", "replace")) + 1, what


def _unexpected(data: bytes) -> str:
    first = data.decode("utf-8", "replace").strip().split("\n")[0]
    return f"unexpected `{first[:40]}`" if first else "unexpected end"


if __name__ == "__main__":
    request = json.load(sys.stdin)
    sys.stdout.write(json.dumps(places(request["text"], request["module"], request["function"])))
