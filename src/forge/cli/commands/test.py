"""`forge test`: run the tests of a branch in the sandbox, and show each failure with its file and line."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forge.app.repositories.test_runs import SECONDS, TestRunView, Wanted, failure_line
from forge.cli.commands.tests import SetCommand, UnsetCommand, chosen_command, show_command
from forge.cli.terminal.options import Branch, branch_to_read, environments_of, opened, short
from forge.cli.terminal.output import Output, ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.progress import waiting
from forge.cli.terminal.project_output import settings_of
from forge.cli.terminal.session import BadUsage, Exit, Session
from forge.counts import counted
from forge.errors import ForgeError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from forge.app.access.local_access import Access
    from forge.app.repositories.catalog import Repository
    from forge.settings import Settings

app = Commands(__doc__)

_NAMED = 50
"""Failures that are shown; all of them are counted."""


@app.add("test")
def run_tests(
    context: typer.Context,
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="A test file, or a part of a test's name; all tests if left out.")
    ] = "",
    branch: Branch = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run them although the same files were tested before.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=1, max=86_400, help="How long they may take.")
    ] = SECONDS,
    unconfined: Annotated[
        bool, typer.Option("--allow-plain", help="Where no sandbox works, run them without one and say so.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Show which command runs the tests; run nothing.")] = False,
    command: SetCommand = None,
    unset: UnsetCommand = False,
) -> int:
    """Run the tests of a branch. Exit code 0: they pass, 1: some fail, 3: a limit was reached, 4: they cannot run."""
    if show or unset or command is not None:
        if pattern:
            raise BadUsage("--show, --set and --unset run nothing.", hint="Leave the pattern out.")
        show_command(context, branch, chosen_command(command, unset=unset))
        return Exit.OK
    repo, out = opened(context)
    name = branch_to_read(repo, branch)
    wanted = Wanted(pattern=pattern.strip(), fresh=again, seconds=seconds, plain=unconfined)
    run = _tested(context.obj, repo, name, wanted)
    out.result(document(run))
    if not out.json:
        _show(out, run, _without_environment(repo, run))
    return _exit_code(run)


def _without_environment(repo: Repository, run: TestRunView) -> str:
    """What to do where tests lack what the environment of the branch would give them."""
    if run.outcome != "cannot run":
        return ""
    try:
        state = environments_of().state(repo, run.branch).state
    except ForgeError as e:
        return f"{e.message} {e.hint}".strip()
    setup = "forge env show, then forge env setup"
    match str(state):
        case "not_approved":
            return f"The environment of {run.branch} is not approved: {setup}"
        case "changed":
            return f"The environment of {run.branch} changed since it was approved: {setup}"
        case "failed":
            return f"The setup of the environment of {run.branch} failed: forge env show --log, then forge env setup"
    return ""


def _tested(session: Session, repo: Repository, branch: str, wanted: Wanted) -> TestRunView:
    """By the server, where one runs; it never runs anything outside the sandbox for somebody."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - not for every command
    from forge.app.repositories.test_alone import run_alone  # noqa: PLC0415
    from forge.cli.server_client import running_server  # noqa: PLC0415

    last = [f"Running the tests of {branch}"]
    settings, on_line = settings_of(session.output), partial(last.__setitem__, 0)
    server = None if session.direct or wanted.plain else running_server(settings.data_dir)
    with waiting(session.output, lambda: last[0]):
        if server is not None:
            from forge.cli.terminal.server_tests import ServerTests  # noqa: PLC0415

            tests = ServerTests(server, settings, repo, branch, session.output.note)
            return asyncio.run(tests.run(wanted, on_line))
        environments = environments_of()
        return run_alone(
            partial(_access, settings), LOCAL, repo, branch, wanted, on_line=on_line, environments=environments
        )


def _access(settings: Settings) -> AbstractContextManager[Access]:
    from forge.app.access.local_access import opened_access  # noqa: PLC0415 - loads the database

    return opened_access(settings, os.environ)


def document(run: TestRunView) -> dict[str, Any]:
    shown = asdict(run)
    for case in shown["tests"]:
        del case["selector"]
    return shown


def _exit_code(run: TestRunView) -> int:
    if run.stopped:
        return Exit.LIMITED
    match run.outcome:
        case "passed":
            return Exit.OK
        case "failed":
            return Exit.ERROR
    return Exit.WAITING


def _show(out: Output, run: TestRunView, missing: str) -> None:
    failed = [case for case in run.tests if case.result == "failed"]
    for case in failed[:_NAMED]:
        out.line(f"{out.styled('✗', 'red')} {failure_line(case)}")
    if len(failed) > _NAMED:
        out.line(f"… and {len(failed) - _NAMED:,} more failed tests; --json lists them.")
    for name in run.flaky:
        out.line(f"{out.styled('~', 'yellow')} {name}: flaky, failed first and passed when run again")
    if run.outcome == "failed" and not failed:
        out.line(run.output[-4_000:].rstrip())
    out.line(f"{_verdict(out, run)} on {run.branch} at {short(run.commit or 'nothing')} · `{run.command}`")
    if missing:
        out.line(f"  → {missing}")
    elif run.outcome in ("cannot run", "no tests"):
        out.line("  → forge test --show tells which command runs; forge test --set COMMAND changes it")
    if run.reused:
        out.note(f"The same files were tested {ago(run.started)}; --again runs the tests again.")


def _verdict(out: Output, run: TestRunView) -> str:
    if run.outcome == "cannot run":
        return f"{out.styled('Cannot run', 'red')}: {run.missing};"
    if run.outcome == "no tests":
        return "The runner found no tests"
    parts = [
        f"{counted(run.passed, 'test')} passed" if run.passed else "",
        f"{run.failed} failed" if run.failed else "",
    ]
    parts += [f"{run.skipped} skipped" if run.skipped else "", f"{len(run.flaky)} flaky" if run.flaky else ""]
    color = "red" if run.outcome == "failed" else "green"
    word = "Failed" if run.outcome == "failed" else "Passed"
    return f"{out.styled(word, color)}: {', '.join(filter(None, parts))} in {run.seconds:.1f} s"
