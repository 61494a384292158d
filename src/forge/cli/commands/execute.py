"""`forge exec`: run a command on the files of a branch, in a sandbox, without a checkout."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from forge.app.repositories.commands import CommandRun, Limits, run_on_branch
from forge.cli.terminal.options import (
    As,
    Branch,
    Large,
    acting,
    branch_to_read,
    environments_of,
    opened,
    short,
    tell_checkouts,
    with_file_limit,
)
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.progress import waiting
from forge.cli.terminal.session import BadUsage, Exit

app = Commands(__doc__)

_NAMED = 1000
"""Changed files that are named; all of them are counted."""


@app.add()
def execute(
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The program and its arguments.")],
    branch: Branch = None,
    save: Annotated[bool, typer.Option("--save", help="Commit what the command changed, if it succeeds.")] = False,
    message: Annotated[
        str | None, typer.Option("--message", "-m", metavar="TEXT", help="The commit message, with --save.")
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", "-i", help="Give it this command's standard input.")] = False,
    seconds: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.1, help="How long it may take, with collecting what it changed."
        ),
    ] = 300,
    memory: Annotated[int, typer.Option("--memory", metavar="MIB", min=16, help="How much it may use.")] = 4096,
    network: Annotated[bool, typer.Option("--network", help="Let it reach the network.")] = False,
    env: Annotated[list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="Set a variable.")] = None,
    readonly: Annotated[
        list[Path] | None, typer.Option("--readonly", metavar="PATH", help="Also show it this path, read-only.")
    ] = None,
    bare: Annotated[bool, typer.Option("--bare", help="Without the environment of the branch.")] = False,
    unconfined: Annotated[
        bool, typer.Option("--allow-plain", help="Where no sandbox works, run it without one and say so.")
    ] = False,
    large: Large = False,
    agent: As = None,
) -> int:
    """Run a command on a branch. Its own exit code is passed on; 3 means that it reached a limit."""
    if message is not None and not save:
        raise BadUsage("--message is for the commit that --save makes.", hint="Add --save.")
    variables = _variables(env or ())
    actor = acting(agent)
    repo, out = opened(context)
    workspace = with_file_limit(repo).workspace(branch_to_read(repo, branch), actor=actor)
    if large and agent is None:
        workspace.largest_file = None
    with waiting(out, f"Running {command[0]} on {workspace.branch}"):
        done = run_on_branch(
            repo,
            workspace,
            command,
            limits=Limits(seconds=seconds, memory_bytes=memory << 20),
            network=network,
            env=variables,
            stdin=sys.stdin.buffer.read() if stdin else b"",
            readonly=readonly or (),
            plain=unconfined,
            save=save,
            message=message,
            environments=None if bare else environments_of(),
        )
    out.result(_document(done))
    if not out.json:
        _show(out, done, saving=save)
    return Exit.LIMITED if set(done.result.limited) - {"output"} else done.result.exit_code


def _variables(words: Sequence[str]) -> dict[str, str]:
    for word in words:
        if "=" not in word[1:]:
            raise BadUsage(f"{word!r} is not NAME=VALUE.", hint="For example --env CI=1.")
    return dict(word.partition("=")[::2] for word in words)


def _document(done: CommandRun) -> dict[str, object]:
    return {
        "branch": done.branch,
        "base": done.base,
        "exit_code": done.result.exit_code,
        "stdout": done.result.stdout_text,
        "stderr": done.result.stderr_text,
        "duration": round(done.result.duration, 3),
        "timed_out": done.result.timed_out,
        "limited": done.result.limited,
        "sandboxed": done.result.sandboxed,
        "changes": {change.path: change.change for change in done.changes[:_NAMED]},
        "changed": {"total": len(done.changes), **Counter(str(change.change) for change in done.changes)},
        "commit": done.commit,
        "notes": done.notes,
        "operation": done.operation,
    }


def _show(out: Output, done: CommandRun, *, saving: bool) -> None:
    out.raw(done.result.stdout)
    out.flush()
    out.raw_error(done.result.stderr)
    for note in done.notes:
        out.note(f"note: {note}")
    stopped = [limit for limit in done.result.limited if limit != "output"]
    if stopped:
        out.note(f"Stopped by a limit: {', '.join(stopped)}.")
    elif done.result.limited:
        out.note("Only the end of the output was kept.")
    for change in done.changes[:_NAMED]:
        out.note(f"{change.change} {change.path}")
    if len(done.changes) > _NAMED:
        out.note(f"… and {len(done.changes) - _NAMED:,} more changed files.")
    if done.commit:
        out.note(f"Saved → {short(done.commit)} on {done.branch}")
        tell_checkouts(out, done.operation)
    elif done.changes:
        why = "the command failed" if not done.result.ok else "not everything that it changed was collected"
        out.note(f"Not saved: {why}." if saving else "Not saved; --save commits such changes.")
