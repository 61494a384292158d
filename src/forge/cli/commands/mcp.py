"""`forge mcp`: the MCP server for agents on this machine, over standard input and output, and its installation."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage, Session
from forge.counts import counted

if TYPE_CHECKING:
    from forge.app.mcp_clients.clients import Scope

app = Commands(__doc__)
_SCOPES: dict[str, Scope] = {"user": "user", "project": "project"}


@app.add()
def mcp(
    context: typer.Context,
    action: Annotated[
        str | None, typer.Argument(metavar="ACTION", help="install or check; without it, the server runs.")
    ] = None,
    client: Annotated[
        str | None,
        typer.Argument(metavar="CLIENT", help="claude, codex, gemini, opencode, vscode, cursor or zed."),
    ] = None,
    toolsets: Annotated[
        list[str] | None,
        typer.Option(
            "--toolset",
            metavar="NAME",
            help="workspace, contracts, papers, projects, memory, default or all; repeat it for several.",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="PROJECT", help="The project of calls that name none."),
    ] = None,
    build: Annotated[
        str | None,
        typer.Option("--build", metavar="BUILD", help="The build whose pinned contracts are read: PROJECT@BATCH."),
    ] = None,
    scope: Annotated[
        str,
        typer.Option("--scope", metavar="SCOPE", help="Install for all your work (user) or this repository (project)."),
    ] = "user",
    undo: Annotated[bool, typer.Option("--undo", help="Take Forge out of the client's configuration.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write the change without asking.")] = False,
) -> None:
    """Serve MCP on standard input and output until the client leaves; or install Forge in a client, or check that."""
    session: Session = context.obj
    if action is None:
        # The faces do not know each other; this one only starts the other.
        stdio = import_module("forge.mcp.stdio")
        stdio.serve(session.directory, os.environ, chosen=toolsets or (), project=project, build=build)
        return
    if action not in ("install", "check") or client is None or scope not in _SCOPES:
        raise BadUsage(
            "This is no way to use `forge mcp`.",
            hint="Write `forge mcp install CLIENT [--scope user|project]` or `forge mcp check CLIENT`.",
        )
    if action == "install":
        _install(session, client, _SCOPES[scope], undo=undo, yes=yes)
    else:
        _check(session, client, _SCOPES[scope])


def _install(session: Session, name: str, scope: Scope, *, undo: bool, yes: bool) -> None:
    from forge.app.mcp_clients.clients import client_named  # noqa: PLC0415 - the server needs none of it
    from forge.app.mcp_clients.installation import installing, removing, write  # noqa: PLC0415

    client, root, out = client_named(name), _root(session.directory), session.output
    if undo:
        change = removing(client, scope, root, environ=os.environ)
    else:
        change = installing(client, scope, root, forge=_forge(), environ=os.environ, prefix=sys.prefix)
    for line in change.diff.splitlines():
        out.line(out.styled(line, *_COLOURS.get(line[:1], ())))
    done: Literal["written", "removed", "unchanged", "shown"] = "unchanged" if change.is_empty else "shown"
    if not change.is_empty and (yes or _agreed(out)):
        write(change)
        done = "removed" if undo else "written"
    out.result({"client": name, "scope": scope, "file": str(change.file), "outcome": done, "diff": change.diff})
    out.aside(_OUTCOMES[done].format(file=change.file, name=name))


def _check(session: Session, name: str, scope: Scope) -> None:
    from forge.app.mcp_clients.check import ask  # noqa: PLC0415
    from forge.app.mcp_clients.clients import client_named  # noqa: PLC0415
    from forge.app.mcp_clients.installation import installed  # noqa: PLC0415

    out, root = session.output, _root(session.directory)
    words = installed(client_named(name), scope, root, environ=os.environ)
    found = ask(name, words, session.directory, os.environ)
    out.result(
        {
            "client": name,
            "command": found.command,
            "server": found.server,
            "tools": found.tools,
            "seconds": found.seconds,
        }
    )
    out.line(f"{out.styled(' '.join(found.command), 'cyan')}")
    out.line(f"{found.server} answered after {found.seconds:.1f} s with {counted(len(found.tools), 'tool')}.")
    out.line(found.said.partition("\n")[0])


_COLOURS = {"+": ("green",), "-": ("red",), "@": ("cyan",)}
_OUTCOMES = {
    "written": "Wrote {file}. Restart {name}; `forge mcp check {name}` tries it.",
    "removed": "Took Forge out of {file}.",
    "unchanged": "{file} has it already.",
    "shown": "Nothing was written. Add --yes to write {file}.",
}


def _agreed(out: Output) -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    out.flush()
    return typer.confirm("Write it?")


def _forge() -> Path:
    """The command that runs now, by its absolute path."""
    beside = Path(sys.executable).parent / "forge"
    return beside if beside.exists() else Path(sys.argv[0]).absolute()


def _root(directory: Path) -> Path:
    return next((each for each in (directory, *directory.parents) if (each / ".git").exists()), directory)
