"""`run_tests`: the repository's tests, with a compact result."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import ClassVar

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools import suites
from forge.tools.builtin.run_command import TIMEOUT
from forge.tools.commands import CommandOutcome, Runner, run_line, told_changes
from forge.tools.contract import ToolRetry
from forge.tools.rendering import tail

_SECONDS = 300
_FAILURES = 20
_OUTPUT_BYTES = 8_000
_OUTPUT_OF_SUCCESS = 600


@dataclass(frozen=True, slots=True)
class RunTests:
    runner: Runner
    test_command: str | None = None
    """A shell line that the person has set; else it is found from the files."""
    outside: ClassVar[bool] = True

    @staticmethod
    def get_schema() -> Json:
        return {
            "name": "run_tests",
            "description": (
                "Run the repository's tests in the sandbox: the configured command, else pytest, unittest, npm, go, "
                "cargo or make as its files show. Gives counts and the first failures."
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
        command, others = self._command(vfs)
        line = " ".join([command, *map(shlex.quote, args.get("arguments", ()))])
        outcome = run_line(self.runner, vfs, line, args.get("timeout_seconds", _SECONDS))
        return "\n".join(filter(None, [_verdict(line, outcome), _details(outcome), told_changes(outcome), others]))

    def _command(self, vfs: WorkInProgressVFS) -> tuple[str, str]:
        if self.test_command:
            return self.test_command, ""
        found = suites.suites(vfs)
        if not found:
            raise ToolRetry(
                "No tests were found: no pytest, unittest, npm, go or cargo tests and no `test` target in a Makefile. "
                "Use run_command with the right command."
            )
        others = ", ".join(suite.command for suite in found[1:])
        return found[0].command, f"Other tests here: {others} (with run_command)." if others else ""


def _verdict(line: str, outcome: CommandOutcome) -> str:
    counted = suites.counts(outcome.output)
    skipped = f", {counted.skipped} skipped" if counted and counted.skipped else ""
    numbers = f": {counted.passed} passed, {counted.failed} failed{skipped}" if counted else ""
    # The exit code alone decides: output can be anything.
    word = "passed" if outcome.exit_code == 0 else "FAILED"
    return f"Tests {word}{numbers} (`{line}`, exit code {outcome.exit_code})."


def _details(outcome: CommandOutcome) -> str:
    if outcome.exit_code == 0:
        return tail(outcome.output, _OUTPUT_OF_SUCCESS)
    first = suites.failures(outcome.output, _FAILURES)
    named = ["First failures:", *(f"- {failure}" for failure in first)] if first else []
    return "\n".join([*named, "Last output:", tail(outcome.output, _OUTPUT_BYTES) or "(none)"])
