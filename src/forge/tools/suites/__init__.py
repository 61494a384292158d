"""Test suites of a repository: which there are, how each is run, and what a run came to, test by test."""

from forge.tools.suites.discovery import Suite, suites
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Outcome, TestRun, judged
from forge.tools.suites.text import Counts, counts, failures

__all__ = ["Counts", "Outcome", "Suite", "TestRun", "counts", "failures", "judged", "suite_line", "suites"]
