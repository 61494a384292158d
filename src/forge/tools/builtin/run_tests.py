"""`run_tests`: the repository's tests, with a compact result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.builtin.run_command import TIMEOUT
from forge.tools.commands import Runner, run_line, told_changes
from forge.tools.suites.discovery import suites
from forge.tools.suites.record import Records
from forge.tools.suites.recorded_run import run_recorded
from forge.tools.suites.suite import Suite, named
from forge.tools.suites.told import told
from forge.tools.tool import ToolRetry

_SECONDS = 300


@dataclass(frozen=True, slots=True)
class RunTests:
    runner: Runner
    test_command: str | None = None
    """A shell line that the person has set; else it is found from the files."""
    records: Records | None = None
    """Where runs are on record, so that the same files are tested once."""
    outside: ClassVar[bool] = True

    @staticmethod
    def get_schema() -> Json:
        return {
            "name": "run_tests",
            "description": (
                "Run the repository's tests in the sandbox: the configured command, else every suite that its files "
                "show (pytest, unittest, npm, go, cargo, make). Gives counts and the first failures of each."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    "arguments": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1},
                        "maxItems": 50,
                        "description": 'Words added to the test command, such as ["tests/test_app.py", "-k", "login"].',
                    },
                    "timeout_seconds": TIMEOUT | {"description": f"{_SECONDS} if left out."},
                },
                "additionalProperties": False,
            },
        }

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str:
        words, seconds = args.get("arguments", ()), args.get("timeout_seconds", _SECONDS)
        found = self._found(vfs)
        # Words are meant for one runner; the others would not understand them.
        others = ", ".join(suite.command for suite in found[1:]) if words else ""
        changes: list[str] = []

        def run(line: str) -> tuple[int, str]:
            outcome = run_line(self.runner, vfs, line, seconds)
            changes.append(told_changes(outcome))
            return outcome.exit_code, outcome.output

        done = run_recorded(
            found[:1] if words else found,
            vfs,
            run,
            records=self.records,
            words=words,
            # A later call gets no files that this one made.
            keeps=lambda: not any(changes),
        )
        last = f"Other tests here: {others} (with run_command)." if others else ""
        return "\n".join(filter(None, [told(done.record, reused=done.reused), *changes, last]))

    def _found(self, vfs: WorkInProgressVFS) -> tuple[Suite, ...]:
        if self.test_command:
            return (named(self.test_command),)
        found = suites(vfs)
        if not found:
            raise ToolRetry(
                "No tests were found: no pytest, unittest, npm, go or cargo tests and no `test` target in a Makefile. "
                "Use run_command with the right command."
            )
        return found
