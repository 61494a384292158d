"""`run_command`: a shell line on the branch's files, confined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.commands import MOST_SECONDS, SECONDS, Runner, run_line, told

TIMEOUT: Json = {
    "type": "integer",
    "minimum": 1,
    "maximum": MOST_SECONDS,
    "description": f"{SECONDS} if left out.",
}


@dataclass(frozen=True, slots=True)
class RunCommand:
    runner: Runner
    outside: ClassVar[bool] = True

    @staticmethod
    def get_schema() -> Json:
        return {
            "name": "run_command",
            "description": (
                "Run a shell line (sh) at the repository's root, in a sandbox without network. It sees your edits; "
                "files it changes become part of your work. Nothing stays running after it. Gives exit code and output."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    "command": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 20_000,
                        "description": "Such as `python3 -m compileall src | tail -5`.",
                    },
                    "timeout_seconds": TIMEOUT,
                },
                "required": ["command"],
                "additionalProperties": False,
            },
        }

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str:
        return told(run_line(self.runner, vfs, args["command"], args.get("timeout_seconds", SECONDS)))
