"""`forge env shell`: a shell on the files of a branch, in the sandbox, whose changes can become one commit."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from forge.app.repositories.environments import EnvironmentInvalid, Environments, EnvironmentStatus, SetupFailed
from forge.cli.terminal.options import (
    Branch,
    Message,
    branch_to_read,
    environments_of,
    opened,
    short,
    tell_checkouts,
    with_file_limit,
)
from forge.cli.terminal.output import Output
from forge.cli.terminal.progress import waiting
from forge.cli.terminal.raw_terminal import RawTerminal, TerminalNeeded, has_terminal, until_decided
from forge.cli.terminal.session import BadUsage, Exit
from forge.counts import counted
from forge.errors import ForgeError

if TYPE_CHECKING:
    from forge.app.repositories.catalog import Repository
    from forge.app.repositories.commands import CommandRun
    from forge.app.repositories.terminals import Terminal

_NAMED = 100
"""Changed files that are named; all of them are counted."""
_SIGNAL = 128


def open_shell(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="A program to run instead of a shell.")
    ] = None,
    branch: Branch = None,
    save: Annotated[bool, typer.Option("--save", help="Commit what changed without a question.")] = False,
    discard: Annotated[bool, typer.Option("--discard", help="Drop what changed without a question.")] = False,
    message: Message = None,
) -> int:
    """Open a shell on a branch, in the sandbox, with its environment. At the end, its changes can become one commit."""
    repo, out = opened(context)
    _refuse_unless_usable(out, save=save, discard=discard, message=message)
    where = branch_to_read(repo, branch)
    from forge.app.repositories.terminals import own_terminal  # noqa: PLC0415 - no other command here needs it

    environments = _environment(out, repo, where)
    shell = own_terminal(
        with_file_limit(repo), where, environments, command=command or (), kind=os.environ.get("TERM", "")
    )
    out.note(f"{where}: {'your command' if command else 'a shell'} in the sandbox, without network.")
    with until_decided():
        return _shell_and_decision(out, shell, save=save, discard=discard, message=message)


def _shell_and_decision(out: Output, shell: Terminal, *, save: bool, discard: bool, message: str | None) -> int:
    screen = RawTerminal(shell)
    done = screen.run()
    stopped = set(done.result.limited) - {"output"}
    try:
        _tell(out, done)
        if screen.ended_by is not None:
            _set_aside(out, shell)
            return _SIGNAL + screen.ended_by
        if done.changes:
            # A limit may have cut the work in two: a script is not to commit half of it.
            wanted = None if stopped and save else save or (not discard and _answer("Save as one commit?"))
            _finish(out, shell, wanted=wanted, message=message or _subject(done))
    except KeyboardInterrupt:
        _set_aside(out, shell)
        raise
    return Exit.LIMITED if stopped else done.result.exit_code


def _refuse_unless_usable(out: Output, *, save: bool, discard: bool, message: str | None) -> None:
    if save and discard:
        raise BadUsage("--save and --discard contradict each other.", hint="Leave one of them out.")
    if discard and message is not None:
        raise BadUsage("--message is for a commit, and --discard makes none.", hint="Leave one of them out.")
    if message is not None and not message.strip():
        raise BadUsage("The commit message is empty.", hint="Say in a line what was changed.")
    if out.json or not has_terminal():
        why = "A shell has no JSON form." if out.json else "A shell needs a terminal, and there is none."
        raise TerminalNeeded(why, hint="Scripts run a command: `forge exec [--save] -- COMMAND`.")


def _environment(out: Output, repo: Repository, branch: str) -> Environments | None:
    """The environments where that of the branch is ready, set up now if it was approved; None after a clear line."""
    environments = environments_of()
    log, approve = f"forge env show -b {branch} --log", f"forge env show -b {branch}, then forge env setup -b {branch}"
    try:
        state = environments.state(repo, branch)
        if state.state in (EnvironmentStatus.APPROVED, EnvironmentStatus.SETTING_UP):
            out.note(f"The environment of {branch} is approved, but not set up. Forge sets it up first.")
            with waiting(out, f"Setting up {branch}"):
                environments.set_up(repo, branch, wait=True)
            return environments
    except (EnvironmentInvalid, SetupFailed) as e:
        _tell_missing(out, branch, e.message, log if isinstance(e, SetupFailed) else e.hint)
        return None
    match state.state:
        case EnvironmentStatus.READY:
            return environments
        case EnvironmentStatus.FAILED:
            reason = state.failure.reason if state.failure else "Its setup failed."
            _tell_missing(out, branch, reason, f"{log}, then forge env setup -b {branch}")
        case EnvironmentStatus.NOT_APPROVED:
            _tell_missing(out, branch, "It is not approved.", f"{approve} --yes")
        case EnvironmentStatus.CHANGED:
            _tell_missing(out, branch, "It changed since it was approved.", f"{approve} --yes")
    return None


def _tell_missing(out: Output, branch: str, reason: str, next_step: str) -> None:
    out.note(f"This shell runs without the environment of {branch}. {reason}")
    out.note(f"  → {next_step}")


def _tell(out: Output, done: CommandRun) -> None:
    for note in done.notes:
        out.note(f"note: {note}")
    stopped = [limit for limit in done.result.limited if limit != "output"]
    if stopped:
        out.note(f"Stopped by a limit: {', '.join(stopped)}.")
    if not done.changes:
        out.note("Nothing changed.")
    for change in done.changes[:_NAMED]:
        out.note(f"{change.change} {change.path}")
    if len(done.changes) > _NAMED:
        out.note(f"… and {len(done.changes) - _NAMED:,} more changed files.")


def _answer(question: str) -> bool | None:
    """None where the person left without an answer."""
    try:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
    except (KeyboardInterrupt, OSError):
        line = ""
    return line.strip().casefold() in ("y", "yes") if line else None


def _finish(out: Output, shell: Terminal, *, wanted: bool | None, message: str) -> None:
    if wanted is None:
        out.note("")
        _set_aside(out, shell)
    elif wanted:
        _save(out, shell, message)
    else:
        out.note("Discarded.")


def _save(out: Output, shell: Terminal, message: str) -> None:
    branch = shell.workspace.branch
    try:
        commit = shell.save(message)
    except ForgeError as e:
        aside = shell.set_aside()
        raise type(e)(e.message, hint=f"Nothing is lost: the changes are on {aside}. Merge it into {branch}.") from e
    out.note(f"Saved → {short(commit)} on {branch}")
    tell_checkouts(out, shell.workspace.last_operation)


def _set_aside(out: Output, shell: Terminal) -> None:
    if shell.workspace.pending:
        out.note(f"The changes are on the new branch {shell.set_aside()}.")


def _subject(done: CommandRun) -> str:
    paths = [change.path for change in done.changes]
    what = paths[0] if len(paths) == 1 else counted(len(paths), "file")
    return f"shell: change {what}"[:72]
