"""Test suites of a repository: which there are, how each is run, and what a run came to, test by test."""

from forge.tools.suites.combined import CombinedRun, run_all
from forge.tools.suites.discovery import Suite, named, suites
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Comparison, Outcome, TestRun, compared, judged, named_few
from forge.tools.suites.reports import Result, Results
from forge.tools.suites.text import Counts, counts, failures

__all__ = [
    "CombinedRun",
    "Comparison",
    "Counts",
    "Outcome",
    "Result",
    "Results",
    "Suite",
    "TestRun",
    "compared",
    "counts",
    "failures",
    "judged",
    "named",
    "named_few",
    "run_all",
    "suite_line",
    "suites",
]
