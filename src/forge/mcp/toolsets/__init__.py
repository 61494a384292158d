"""The toolsets by name, always in the same order, so that a client's prompt cache holds."""

from __future__ import annotations

from collections.abc import Iterable

from forge.errors import InvalidInput
from forge.mcp.tool import Tool
from forge.mcp.toolsets import contracts, explore, memory, papers, projects, workspace

TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "workspace": workspace.TOOLS,
    "contracts": contracts.TOOLS,
    "papers": papers.TOOLS,
    "projects": projects.TOOLS,
    "memory": memory.TOOLS,
    "explore": explore.TOOLS,
}
DEFAULT = "default"
_DEFAULT = (
    *workspace.TOOLS,
    *(each for each in contracts.TOOLS if each.name in ("forge_get_summary", "forge_get_contract")),
)


class ToolsetUnknown(InvalidInput):
    code = "toolset_unknown"


def chosen(names: Iterable[str]) -> tuple[Tool, ...]:
    """The tools of the sets named, each once, in the order of the sets; the default ones where none is named."""
    wanted = {name.strip() for name in names if name.strip()} or {DEFAULT}
    unknown = wanted - {*TOOLSETS, "all", DEFAULT}
    if unknown:
        known = ", ".join([*TOOLSETS, DEFAULT, "all"])
        raise ToolsetUnknown(f"There is no toolset {min(unknown)!r}.", hint=f"There are {known}.")
    usual = {each.name for each in _DEFAULT} if DEFAULT in wanted else set()
    return tuple(
        tool
        for name, tools in TOOLSETS.items()
        for tool in tools
        if name in wanted or "all" in wanted or tool.name in usual
    )
