"""A way to run tests: a command and the runner behind it."""

from __future__ import annotations

from dataclasses import dataclass

from forge.tools.suites.runner import Form, Runner, runner_in, runner_named


@dataclass(frozen=True, slots=True)
class Suite:
    """A way to run tests that the repository shows."""

    command: str
    because: str
    """The file that shows it."""
    form: Form = Form.TEXT
    report: str = ""
    """Words added to the command so that it tells of each test; `{file}` is where a report is written."""
    runner: str = ""
    """Its name among the runners that Forge knows."""
    between: str = ""
    """Stands before any added word: `--` after the words of a package manager."""
    found: str = ""
    """Reports that the runner writes by itself: a pattern for `find -path`."""

    @property
    def kind(self) -> Runner:
        return runner_named(self.runner)


def suite_of(runner: str, command: str, because: str, *, between: str = "") -> Suite:
    kind = runner_named(runner)
    return Suite(command, because, kind.form, kind.report, runner, between, kind.found)


def named(command: str) -> Suite:
    """A command that a person has set, distinguished by the runner it names."""
    return suite_of(runner_in(command).name, command, "the test command that is set")
