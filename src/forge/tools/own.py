"""The repository's own tools, behind one tool that never changes.

A model is told of them in the conversation. Were each shown as a tool of its own, approving one would change the very
beginning of every later prompt, and nothing of it could be taken from a provider's cache.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from forge.git import WorkInProgressVFS
from forge.tools.arguments import checked
from forge.tools.contract import Json, ToolFailed
from forge.tools.user_tools import ApprovedTool, refusal

NAME = "use_tool"


class UseTool:
    """Runs an approved tool of the repository."""

    outside: ClassVar[bool] = True

    def __init__(self, tools: Sequence[ApprovedTool]) -> None:
        self._tools = {tool.get_schema()["name"]: tool for tool in tools}

    def get_schema(self) -> Json:
        return {
            "name": NAME,
            "description": "Run one of the repository's own tools, listed in the conversation with their arguments.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The tool's name."},
                    "arguments": {"type": "object", "description": "What the tool takes; {} if nothing."},
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            },
        }

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str | Json:
        tool = self._tools.get(args["name"])
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise ToolFailed(refusal(vfs, args["name"]) or f"There is no such tool. Approved are: {known}.")
        return tool.execute(vfs, checked(tool.get_schema()["parameters"], args["arguments"]))

    def told(self) -> str:
        """What a model must know of the tools; empty if there are none."""
        if not self._tools:
            return ""
        lines = [
            f"- {name}: {tool.get_schema()['description']} Arguments: "
            f"{json.dumps(tool.get_schema()['parameters'], sort_keys=True, ensure_ascii=False)}"
            for name, tool in sorted(self._tools.items())
        ]
        return f"Tools of this repository, to be run with `{NAME}`:\n" + "\n".join(lines) + "\n"
