"""`forge rebase`: let the commits of a branch begin at another commit. The old tip is kept."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.merging import Preview, Resolve, carry_out
from forge.cli.options import Agent, commands, opened

app = commands(__doc__)


@app.command()
def rebase(
    context: typer.Context,
    branch: Annotated[str, typer.Argument(help="The branch to move.")],
    onto: Annotated[str, typer.Option("--onto", help="Branch, tag or commit to begin at.", show_default=False)],
    preview: Preview = False,
    resolve: Resolve = None,
    agent: Agent = None,
) -> int:
    """Put the commits of BRANCH onto another commit."""
    repo, out = opened(context)
    return carry_out(repo, out, repo.preview_rebase(branch, onto), only=preview, resolve=resolve, agent=agent)
