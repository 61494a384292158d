"""All tools of the explorer, by name. State changes through them and in no other way."""

from __future__ import annotations

from collections.abc import Mapping

from forge.explore import assumption_tools, conversation_tools, frame_tools, solution_tools
from forge.explore.workbench import StateTool

_ALL = (*assumption_tools.TOOLS, *frame_tools.TOOLS, *solution_tools.TOOLS, *conversation_tools.TOOLS)
TOOLS: Mapping[str, StateTool] = {tool.name: tool for tool in _ALL}
