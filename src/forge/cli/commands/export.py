"""`forge export`: a branch without its conversations, as a branch of its own or as a file for git."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from forge.app.repositories.export import bundle, export_without_sessions
from forge.cli.terminal.options import Branch, branch_or_current, opened, short
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage
from forge.errors import NotFound

app = Commands(__doc__)


@app.add()
def export(
    context: typer.Context,
    branch: Branch = None,
    without: Annotated[
        bool, typer.Option("--without-sessions", help="Leave every conversation out of the history.")
    ] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NEW", help="The branch to make; BRANCH-export if left out.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--bundle", metavar="FILE", help="Also write it to a file that git can fetch from.")
    ] = None,
) -> None:
    """Make a copy of a branch that can be given away. The branch itself stays as it is."""
    repo, out = opened(context)
    if not without:
        raise BadUsage("Say what to leave out.", hint="forge export --without-sessions --branch BRANCH")
    if file is not None and not file.absolute().parent.is_dir():
        raise NotFound(f"There is no folder {file.parent} for the bundle.", hint="Make it first; nothing was done.")
    name = branch_or_current(repo, branch)
    made = export_without_sessions(repo, name, to or f"{name}-export")
    if file is not None:
        bundle(repo, made.branch, file)
    out.result({**asdict(made), "bundle": str(file) if file else None})
    out.line(
        f"Made {out.styled(made.branch, 'cyan')} at {out.styled(short(made.commit), 'yellow')}: "
        f"{made.rewritten} commit{'s' * (made.rewritten != 1)} rewritten, "
        f"{made.left_out} left out that held only conversation."
    )
