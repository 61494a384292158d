"""`run_tests`: the repository's tests, with a compact result."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools import suites
from forge.tools.builtin.run_command import TIMEOUT
from forge.tools.commands import Runner, run_line, told_changes
from forge.tools.result_text import tail
from forge.tools.tool import ToolRetry

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
        told: list[str] = []

        def run(line: str) -> tuple[int, str]:
            outcome = run_line(self.runner, vfs, line, seconds)
            told.append(told_changes(outcome))
            return outcome.exit_code, outcome.output

        done = suites.run_all(found[:1] if words else found, run, words)
        parts = [
            part
            for each, printed, changes in zip(done.runs, done.printed, told, strict=True)
            for part in (_verdict(each, words), _details(each, printed), changes)
        ]
        last = f"Other tests here: {others} (with run_command)." if others else ""
        return "\n".join(filter(None, [*parts, last]))

    def _found(self, vfs: WorkInProgressVFS) -> tuple[suites.Suite, ...]:
        if self.test_command:
            return (suites.named(self.test_command),)
        found = suites.suites(vfs)
        if not found:
            raise ToolRetry(
                "No tests were found: no pytest, unittest, npm, go or cargo tests and no `test` target in a Makefile. "
                "Use run_command with the right command."
            )
        return found


def _verdict(run: suites.TestRun, words: Sequence[str]) -> str:
    line = " ".join([run.command, *map(shlex.quote, words)])
    counted = run.counts
    skipped = f", {counted.skipped} skipped" if counted.skipped else ""
    ran = counted.passed + counted.failed + counted.skipped
    numbers = f": {counted.passed} passed, {counted.failed} failed{skipped}" if ran else ""
    match run.outcome:
        case suites.Outcome.CANNOT_RUN:
            said = f"cannot run: {run.missing}"
        case suites.Outcome.FAILED:
            said = f"FAILED{numbers}"
        case suites.Outcome.NO_TESTS if run.exit_code:
            said = "FAILED: the runner found none"
        case _:
            said = f"passed{numbers}"
    return f"Tests {said} (`{line}`, exit code {run.exit_code})."


def _details(run: suites.TestRun, printed: str) -> str:
    if run.exit_code == 0:
        return tail(printed, _OUTPUT_OF_SUCCESS)
    first = suites.failures(printed, _FAILURES) or run.failed[:_FAILURES]
    named = ["First failures:", *(f"- {failure}" for failure in first)] if first else []
    return "\n".join([*named, "Last output:", tail(printed, _OUTPUT_BYTES) or "(none)"])
