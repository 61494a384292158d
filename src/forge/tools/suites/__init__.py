"""Test suites of a repository: which there are, how each is run, and what a run came to, test by test."""

from forge.tools.suites.combined import CombinedRun, run_all
from forge.tools.suites.command import (
    SETTING,
    TestCommand,
    checked_command,
    command_of,
    repository_command,
    set_repository_command,
)
from forge.tools.suites.discovery import Suite, named, suites
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Comparison, Outcome, TestRun, compared, judged, named_few
from forge.tools.suites.reports import Result, Results
from forge.tools.suites.text import Counts, counts, failures

__all__ = [
    "SETTING",
    "CombinedRun",
    "Comparison",
    "Counts",
    "Outcome",
    "Result",
    "Results",
    "Suite",
    "TestCommand",
    "TestRun",
    "checked_command",
    "command_of",
    "compared",
    "counts",
    "failures",
    "judged",
    "named",
    "named_few",
    "repository_command",
    "run_all",
    "set_repository_command",
    "suite_line",
    "suites",
]
