"""`forge exec`: run a command on the files of a branch, in a sandbox, without a checkout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from forge.app.commands import CommandRun, run_on_branch
from forge.cli.options import Agent, acting, branch_or_current, commands, opened, short, tell_checkouts
from forge.cli.output import Output
from forge.cli.output import plain as as_json
from forge.cli.progress import waiting
from forge.cli.running import Exit
from forge.sandbox import Limits

app = commands(__doc__)


@app.command(context_settings={"ignore_unknown_options": False})
def execute(
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND [ARGS]...", help="The command and its words.")],
    branch: Annotated[str | None, typer.Option("--branch", "-b", help="The branch; the current one.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Commit what the command changed, if it succeeds.")] = False,
    message: Annotated[str | None, typer.Option("--message", "-m", help="The commit message, with --save.")] = None,
    seconds: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds the command may take.")] = 300,
    memory: Annotated[int, typer.Option(min=16, help="MiB of memory it may use.")] = 4096,
    network: Annotated[bool, typer.Option("--network", help="Let it reach the network.")] = False,
    env: Annotated[list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="Set a variable.")] = None,
    readonly: Annotated[list[Path] | None, typer.Option(help="Also show it this path, read-only.")] = None,
    unconfined: Annotated[
        bool, typer.Option("--allow-plain", help="Where no sandbox works, run it without one and say so.")
    ] = False,
    agent: Agent = None,
) -> int:
    """Run COMMAND on a branch. Its own exit code is passed on; 3 means that it reached a limit."""
    repo, out = opened(context)
    workspace = repo.workspace(branch_or_current(repo, branch), actor=acting(agent))
    variables = dict(word.partition("=")[::2] for word in env or ())
    with waiting(out, f"Running {command[0]} on {workspace.branch}"):
        done = run_on_branch(
            repo,
            workspace,
            command,
            limits=Limits(seconds=seconds, memory_bytes=memory << 20),
            network=network,
            env=variables,
            stdin=b"" if sys.stdin.isatty() else sys.stdin.buffer.read(),
            readonly=readonly or (),
            plain=unconfined,
            save=(message or f"run: {' '.join(command)}"[:72]) if save else None,
        )
    out.result(_document(done))
    if not out.json:
        _show(out, done)
    if set(done.result.limited) - {"output"}:
        return Exit.LIMITED
    return done.result.exit_code


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
        "changes": {change.path: change.change for change in done.changes},
        "commit": done.commit,
        "notes": done.notes,
        "operation": as_json(done.operation),
    }


def _show(out: Output, done: CommandRun) -> None:
    sys.stdout.buffer.write(done.result.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(done.result.stderr)
    sys.stderr.flush()
    for note in done.notes:
        out.note(f"note: {out.styled(note)}")
    if done.result.limited:
        out.note(f"Stopped or cut by a limit: {', '.join(done.result.limited)}.")
    for change in done.changes:
        out.note(f"{change.change} {out.styled(change.path)}")
    if done.commit:
        out.note(f"Saved → {short(done.commit)} on {done.branch}")
        tell_checkouts(out, done.operation)
    elif done.changes:
        out.note("Not saved." + ("" if done.result.ok else " The command failed.") + " `--save` commits the changes.")
