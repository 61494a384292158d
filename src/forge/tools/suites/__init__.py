"""Test suites of a repository: which there are, how each is run, and what a run came to, test by test."""

from forge.tools.suites.cases import Case, Result, Results
from forge.tools.suites.combined import CombinedRun, run_all
from forge.tools.suites.command import (
    SETTING,
    TestCommand,
    checked_command,
    command_of,
    repository_command,
    set_repository_command,
)
from forge.tools.suites.discovery import suites
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Comparison, Outcome, TestRun, compared, judged, named_few
from forge.tools.suites.places import placed
from forge.tools.suites.record import Record, Records
from forge.tools.suites.recorded_run import RecordedRun, run_recorded
from forge.tools.suites.selection import can_select, selected
from forge.tools.suites.suite import Suite, named
from forge.tools.suites.text import Counts, counts, failures
from forge.tools.suites.told import failure_line, reason, told, verdict

__all__ = [
    "SETTING",
    "Case",
    "CombinedRun",
    "Comparison",
    "Counts",
    "Outcome",
    "Record",
    "RecordedRun",
    "Records",
    "Result",
    "Results",
    "Suite",
    "TestCommand",
    "TestRun",
    "can_select",
    "checked_command",
    "command_of",
    "compared",
    "counts",
    "failure_line",
    "failures",
    "judged",
    "named",
    "named_few",
    "placed",
    "reason",
    "repository_command",
    "run_all",
    "run_recorded",
    "selected",
    "set_repository_command",
    "suite_line",
    "suites",
    "told",
    "verdict",
]
