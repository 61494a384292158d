"""Running the tests of a branch: in the sandbox, without a checkout, once for the same files and command."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from forge.app.repositories.commands import run_on_branch
from forge.app.repositories.environments import Environments
from forge.errors import InvalidInput
from forge.git import Actor, ActorKind, Repository, WorkInProgressVFS
from forge.json_value import Json
from forge.sandbox import CommandResult, Limits
from forge.tools.suites.cases import Case
from forge.tools.suites.cases import Result as CaseResult
from forge.tools.suites.command import command_of, repository_command
from forge.tools.suites.outcome import Outcome
from forge.tools.suites.record import Record, Records
from forge.tools.suites.recorded_run import RecordedRun, run_recorded
from forge.tools.suites.selection import can_select, selected
from forge.tools.suites.suite import Suite
from forge.tools.suites.told import failure_line

__all__ = ["failure_line"]

SECONDS = 600.0
_OUTPUT_BYTES = 8 << 20
"""A report names every test."""
_LONGEST_PATTERN = 500


class NoTests(InvalidInput):
    code = "no_tests"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asks for."""

    pattern: str = ""
    """A file, or a part of a test's name; empty for all tests."""
    fresh: bool = False
    """Run them although the same files were tested before."""
    seconds: float = SECONDS
    plain: bool = False
    """Run them where no sandbox works, too."""


def run_branch_tests(
    repo: Repository,
    branch: str,
    wanted: Wanted,
    *,
    redact: Callable[[str], str],
    on_line: Callable[[str], None] = lambda _: None,
    on_start: Callable[[], None] = lambda: None,
    cancel: threading.Event | None = None,
    environments: Environments | None = None,
) -> RecordedRun:
    """What the tests change on disk is dropped. `on_line` hears the last line that a runner printed, `on_start` that
    one is about to start.

    `redact` takes secrets out of what is put on record.
    """
    vfs = repo.workspace(branch, actor=Actor(ActorKind.BUILD, "tests"))
    own = environments.test_command(repo, vfs) if environments and not repository_command(repo) else ""
    found = chosen_suites(command_of(repo, vfs, project=own).suites, checked_pattern(wanted.pattern))
    environment = partial(environments.layer_key, repo) if environments is not None else _no_environment
    run = _Lines(repo, vfs, wanted, on_line, on_start, cancel=cancel, environments=environments)
    return run_recorded(
        found,
        vfs,
        run,
        records=Records(repo.common_dir, redact, environment),
        pattern=wanted.pattern,
        fresh=wanted.fresh,
        stopped=lambda: run.stopped,
        keeps=lambda: not run.cancelled,
    )


def _no_environment(vfs: WorkInProgressVFS) -> str:
    del vfs
    return ""


def chosen_suites(found: tuple[Suite, ...], pattern: str) -> tuple[Suite, ...]:
    """Those that can run the tests that the pattern names."""
    if not found:
        raise NoTests(
            "No tests were found on this branch.",
            hint="Set the command that runs them: `forge test --set COMMAND`.",
        )
    able = tuple(suite for suite in found if not pattern or can_select(suite, pattern))
    if not able:
        selected(found[0], pattern)  # says why not
    return able


def checked_pattern(pattern: str) -> str:
    if len(pattern) > _LONGEST_PATTERN or not all(character.isprintable() for character in pattern):
        raise InvalidInput(
            "The pattern is no single line.", hint=f"Give one name or path of at most {_LONGEST_PATTERN} characters."
        )
    if pattern.startswith("-"):
        raise InvalidInput(
            f"{pattern!r} looks like an option of the runner.", hint="Give a part of a test's name or a path."
        )
    return pattern


class _Lines:
    """Runs shell lines on one workspace and notes why one was ended early."""

    def __init__(
        self,
        repo: Repository,
        vfs: WorkInProgressVFS,
        wanted: Wanted,
        on_line: Callable[[str], None],
        on_start: Callable[[], None],
        *,
        cancel: threading.Event | None,
        environments: Environments | None,
    ) -> None:
        self.stopped = ""
        self.cancelled = False
        self._wanted = wanted
        self._tell = _LastLine(on_line)
        limits = Limits(seconds=wanted.seconds, output_bytes=_OUTPUT_BYTES)
        self._run = partial(
            run_on_branch,
            repo,
            vfs,
            limits=limits,
            plain=wanted.plain,
            cancel=cancel,
            collect=False,
            on_start=on_start,
            environments=environments,
        )

    def __call__(self, line: str) -> tuple[int, str]:
        done = self._run(["sh", "-c", line], on_output=self._tell)
        self._note(done.result)
        # Places are those of the branch; the directory is Forge's own affair.
        output = (done.result.stdout_text + done.result.stderr_text).replace(f"{done.directory}/", "")
        return done.result.exit_code or int(done.result.timed_out), output

    def _note(self, result: CommandResult) -> None:
        limits = [limit for limit in result.limited if limit not in ("output", "file size")]
        if result.cancelled:
            self.cancelled = True
            self.stopped = "the run was cancelled"
        elif result.timed_out:
            self.stopped = f"the tests took longer than {self._wanted.seconds:.0f} s"
        elif limits:
            self.stopped = f"the tests reached the limit of {', '.join(limits)}"


class _LastLine:
    """The last line of output that says something, as it comes; reports are no text for people."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def __call__(self, stream: str, data: bytes) -> None:
        del stream
        lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
        last = next((line for line in reversed(lines) if line and not line.startswith(("<", "{"))), "")
        if last:
            self._tell(last[:200])


@dataclass(frozen=True, slots=True)
class TestRunView:
    """A test run as every face shows it."""

    __test__ = False

    branch: str
    commit: str | None
    current: bool
    """Whether the branch still has the files that were tested."""
    command: str
    pattern: str
    outcome: Outcome
    passed: int
    failed: int
    skipped: int
    flaky: tuple[str, ...]
    seconds: float
    started: float
    reused: bool
    missing: str
    """What has to be supplied before the tests can run; why the run was stopped."""
    stopped: bool
    """Whether a limit or a cancellation ended it early."""
    tests: tuple[Case, ...]
    """Failed ones first."""
    left_out: int
    """Tests that are not in the list."""
    output: str
    """The end of what the runners printed."""


_SHOWN = 5_000


def shown_run(repo: Repository, branch: str, run: RecordedRun) -> TestRunView:
    record = run.record
    now = repo.workspace(branch).content_mark() if repo.refs.tip(branch) else ""
    return TestRunView(
        branch,
        record.commit,
        now == record.content,
        record.command,
        " ".join(record.words),
        record.outcome,
        record.passed,
        record.failed,
        record.skipped,
        record.flaky,
        record.seconds,
        record.started,
        run.reused,
        record.missing,
        bool(record.stopped),
        tuple(replace(each, selector="") for each in record.tests[:_SHOWN]),
        max(0, len(record.tests) - _SHOWN),
        "\n".join(suite.printed for suite in record.suites),
    )


def view_from_json(data: Json) -> TestRunView:
    """As the API gives it."""
    tests = tuple(Case(**{**each, "result": CaseResult(each["result"])}) for each in data["tests"])
    outcome = Outcome(data["outcome"])
    return TestRunView(**{**data, "outcome": outcome, "flaky": tuple(data["flaky"]), "tests": tests})


def run_with(repo: Repository, branch: str, key: str) -> Record | None:
    """The record with this key, reusable or the last of its branch."""
    records = Records(repo.common_dir, str)
    last = records.last(branch)
    return last if last is not None and last.key == key else records.get(key)


def last_run(repo: Repository, branch: str) -> TestRunView | None:
    found = Records(repo.common_dir, str).last(branch)
    return None if found is None else shown_run(repo, branch, RecordedRun(found, reused=False))
