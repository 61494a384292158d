"""The shell line that runs a suite and brings out its report, and taking both apart again."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from forge.tools.suites.json_reports import go_text
from forge.tools.suites.outcome import TestRun, judged
from forge.tools.suites.runner import Form
from forge.tools.suites.suite import Suite

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
        run = judged(self.suite, exit_code, printed, report)
        return run, go_text(printed) if self.suite.form is Form.GO else printed


def suite_line(suite: Suite, arguments: Sequence[str] = ()) -> SuiteLine:
    mark = f"forge-report-{secrets.token_hex(8)}"
    # Tests can read the name of the file, so it tells nothing of the mark.
    file = _FILE.format(run=secrets.token_hex(8))
    added = [suite.report.format(file=file), *map(shlex.quote, arguments)]
    between = suite.between if any(added) else ""
    command = " ".join(filter(None, [suite.command, between, *added]))
    if suite.found:
        # A report of an earlier run may still be in the directory.
        reports = f"find . -path {shlex.quote(suite.found)}"
        return _with_report(suite, mark, f"{reports} -delete 2>/dev/null; {command}", f"{reports} -exec cat {{}} +")
    if "{file}" not in suite.report:
        return SuiteLine(suite, f"{command} 2>&1", mark)
    return _with_report(suite, mark, command, f"cat {file} 2>/dev/null; rm -f {file}")


def _with_report(suite: Suite, mark: str, command: str, report: str) -> SuiteLine:
    # In a group, so that both streams of every part of the line come out in order.
    run = f"{{ {command}; }} 2>&1" if suite.found or "&&" in command else f"{command} 2>&1"
    return SuiteLine(suite, f"{run}; code=$?; printf '\\n{mark}\\n'; {report}; exit $code", mark)
