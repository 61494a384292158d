"""The shell line that runs a suite and brings out its report, and taking both apart again."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from forge.tools.suites.discovery import Suite
from forge.tools.suites.outcome import TestRun, judged

_FILE = "/tmp/forge-tests-{run}.xml"  # noqa: S108 - the sandbox's own; where there is none, no other run has this name


@dataclass(frozen=True, slots=True)
class SuiteLine:
    suite: Suite
    text: str
    """For `sh -c`."""
    mark: str
    """Unguessable, so that no output of the tests passes for the report."""

    def read(self, exit_code: int, output: str) -> tuple[TestRun, str]:
        """What the run came to, and what the runner printed for people."""
        printed, _, report = output.partition(f"\n{self.mark}\n")
        return judged(self.suite, exit_code, printed, report), printed


def suite_line(suite: Suite, arguments: Sequence[str] = ()) -> SuiteLine:
    mark = f"forge-report-{secrets.token_hex(8)}"
    # Tests can read the name of the file, so it tells nothing of the mark.
    file = _FILE.format(run=secrets.token_hex(8))
    words = [suite.command, suite.report.format(file=file), *map(shlex.quote, arguments)]
    command = " ".join(filter(None, words))
    if "{file}" not in suite.report:
        return SuiteLine(suite, f"{command} 2>&1", mark)
    report = f"printf '\\n{mark}\\n'; cat {file} 2>/dev/null; rm -f {file}"
    return SuiteLine(suite, f"{command} 2>&1; code=$?; {report}; exit $code", mark)
