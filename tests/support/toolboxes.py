"""Toolboxes for tests of something else: everything that is in them may be used."""

from __future__ import annotations

from collections.abc import Iterable

from forge.tools.access import ToolAccess
from forge.tools.tool import Tool
from forge.tools.toolbox import Toolbox


def open_toolbox(tools: Iterable[Tool]) -> Toolbox:
    given = tuple(tools)
    return Toolbox(given, ToolAccess(frozenset(tool.get_schema()["name"] for tool in given)))
