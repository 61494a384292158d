"""The toolsets by name, always in the same order, so that a client's prompt cache holds."""

from __future__ import annotations

from collections.abc import Iterable

from forge.errors import InvalidInput
from forge.mcp.tool import Tool
from forge.mcp.toolsets import memory, projects, workspace

TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "workspace": workspace.TOOLS,
    "projects": projects.TOOLS,
    "memory": memory.TOOLS,
}
DEFAULT = ("workspace",)


class ToolsetUnknown(InvalidInput):
    code = "toolset_unknown"


def chosen(names: Iterable[str]) -> tuple[Tool, ...]:
    """The tools of the sets named, each once, in the order of the sets; the default ones where none is named."""
    wanted = {name.strip() for name in names if name.strip()} or set(DEFAULT)
    unknown = wanted - {*TOOLSETS, "all", "default"}
    if unknown:
        known = ", ".join([*TOOLSETS, "default", "all"])
        raise ToolsetUnknown(f"There is no toolset {min(unknown)!r}.", hint=f"There are {known}.")
    if "all" in wanted:
        wanted = set(TOOLSETS)
    if "default" in wanted:
        wanted |= set(DEFAULT)
    found = [tool for name, tools in TOOLSETS.items() if name in wanted for tool in tools]
    return tuple({tool.name: tool for tool in found}.values())
