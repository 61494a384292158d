"""Running the tests of a build branch: every suite, or the command that a person set, in the sandbox."""

from __future__ import annotations

from dataclasses import replace

from forge.app.projects.test_changes import evasions, weakened
from forge.app.repositories.commands import run_on_branch
from forge.app.repositories.environments import Environments
from forge.git import Actor, ActorKind, Repository
from forge.plugins.roles import TestResults
from forge.sandbox import Limits
from forge.tools.suites.cases import Result
from forge.tools.suites.combined import CombinedRun, run_all
from forge.tools.suites.command import command_of
from forge.tools.suites.outcome import Outcome
from forge.tools.suites.places import by_path

_SECONDS = 600
_OUTPUT_BYTES = 8 << 20
"""A report names every test."""


def run_tests(
    repo: Repository,
    branch: str,
    *,
    plain: bool,
    command: str = "",
    since: str | None = None,
    known: TestResults | None = None,
    environments: Environments | None = None,
) -> TestResults:
    """Every test of the branch as it is; what the tests change is dropped. With `plain`, where no sandbox is, too.
    `command` is what the project sets.
    """
    vfs = repo.workspace(branch, actor=Actor(ActorKind.BUILD, "tests"))
    found = command_of(repo, vfs, project=command).suites
    if not found:
        told = "No tests were found."
        return TestResults(0, 0, 0, told, commit=vfs.base, exit_code=1, outcome=Outcome.NO_TESTS)
    line = "; ".join(suite.command for suite in found)
    if known is not None and (known.commit, known.command) == (vfs.base, line) and not known.cannot_run:
        return known
    limits = Limits(seconds=_SECONDS, output_bytes=_OUTPUT_BYTES)

    def run_line(text: str) -> tuple[int, str]:
        run = run_on_branch(
            repo, vfs, ["sh", "-c", text], limits=limits, plain=plain, collect=False, environments=environments
        )
        result = run.result
        return result.exit_code or int(result.timed_out), result.stdout_text + result.stderr_text

    done = by_path(run_all(found, run_line, again=True), vfs)
    results = _results(done)
    return replace(
        results, commit=vfs.base, weakened=weakened(repo, since, vfs.base), evasions=evasions(repo, since, vfs.base)
    )


def _results(done: CombinedRun) -> TestResults:
    counts = done.counts
    by_name = {name: str(result) for name, result in done.results.items()}
    return TestResults(
        counts.passed + counts.failed,
        counts.passed,
        counts.failed,
        done.output,
        exit_code=done.exit_code,
        command=done.command,
        skipped=counts.skipped,
        outcome=done.outcome,
        failures=tuple(name for name, result in by_name.items() if result == Result.FAILED),
        missing=done.missing,
        lacks_runner=done.lacks_runner,
        results=by_name,
        flaky=done.flaky,
        broken=done.broken,
    )
