"""`forge rebase`: let the commits of a branch begin at another commit. The old tip is kept."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories.merges import MergeKind, MergeOrder
from forge.cli.terminal.merge_preview import Along, Preview, Resolve, carry_out
from forge.cli.terminal.options import As, opened
from forge.cli.terminal.parser import Commands

app = Commands(__doc__)


@app.add()
def rebase(
    context: typer.Context,
    branch: Annotated[str, typer.Argument(help="The branch to move.")],
    onto: Annotated[str, typer.Option("--onto", metavar="REV", help="Branch, tag or commit to begin at.")],
    first: Annotated[
        str | None, typer.Option("--from", metavar="COMMIT", help="Only this commit and those after it.")
    ] = None,
    preview: Preview = False,
    conversation: Along = None,
    resolve: Resolve = None,
    agent: As = None,
) -> int:
    """Rebase BRANCH onto another commit. The old tip is kept. Exit code 4 if there are conflicts."""
    repo, out = opened(context)
    order = MergeOrder(MergeKind.REBASE, branch, (onto,), first=first, conversation=conversation)
    doing = f"Rebasing {branch} onto {onto}"
    return carry_out(repo, out, order, doing=doing, only=preview, resolve=resolve, agent=agent)
