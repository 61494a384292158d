"""`forge merge`: bring the work of one branch into another."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.merging import Preview, Resolve, carry_out
from forge.cli.options import Agent, Message, branch_or_current, commands, opened

app = commands(__doc__)


@app.command()
def merge(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="Branch, tag or commit to merge.")],
    into: Annotated[str | None, typer.Option("--into", help="The branch to merge into; the current one.")] = None,
    preview: Preview = False,
    no_ff: Annotated[bool, typer.Option("--no-ff", help="Make a merge commit even where none is needed.")] = False,
    message: Message = None,
    resolve: Resolve = None,
    agent: Agent = None,
) -> int:
    """Merge SOURCE into a branch. Nothing is checked out."""
    repo, out = opened(context)
    shown = repo.preview_merge(source, branch_or_current(repo, into), message=message, no_ff=no_ff)
    return carry_out(repo, out, shown, only=preview, resolve=resolve, agent=agent)
