"""`forge cherry-pick`: copy commits onto a branch."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.merging import Preview, Resolve, carry_out
from forge.cli.options import Agent, branch_or_current, commands, opened

app = commands(__doc__)


@app.command()
def cherry_pick(
    context: typer.Context,
    commits: Annotated[list[str], typer.Argument(help="The commits, oldest first.")],
    onto: Annotated[str | None, typer.Option("--onto", help="The branch to copy to; the current one.")] = None,
    preview: Preview = False,
    mainline: Annotated[int | None, typer.Option(min=1, help="Which parent of a merge its change is against.")] = None,
    record_origin: Annotated[bool, typer.Option("-x", help="Name the original commit in the message.")] = False,
    resolve: Resolve = None,
    agent: Agent = None,
) -> int:
    """Copy COMMITS onto a branch, each as a commit of its own."""
    repo, out = opened(context)
    shown = repo.preview_cherry_pick(
        commits, branch_or_current(repo, onto), mainline=mainline, record_origin=record_origin
    )
    return carry_out(repo, out, shown, only=preview, resolve=resolve, agent=agent)
