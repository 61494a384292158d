"""`forge mcp`: the MCP server for agents on this machine, over standard input and output."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated

import typer

from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session

app = Commands(__doc__)


@app.add()
def mcp(
    context: typer.Context,
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
) -> None:
    """Serve MCP on standard input and output until the client leaves."""
    session: Session = context.obj
    # The faces do not know each other; this one only starts the other.
    stdio = import_module("forge.mcp.stdio")
    stdio.serve(session.directory, os.environ, chosen=toolsets or (), project=project, build=build)
