"""`forge merge`: bring the work of one branch into another."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories.merges import MergeKind, MergeOrder
from forge.cli.terminal.merge_preview import Along, Preview, Resolve, carry_out
from forge.cli.terminal.options import As, Message, branch_or_current, opened
from forge.cli.terminal.parser import Commands

app = Commands(__doc__)


@app.add()
def merge(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="Branch, tag or commit to merge.")],
    into: Annotated[
        str | None, typer.Option("--into", metavar="BRANCH", help="The branch to merge into; the current one.")
    ] = None,
    preview: Preview = False,
    no_ff: Annotated[bool, typer.Option("--no-ff", help="Make a merge commit even where none is needed.")] = False,
    message: Message = None,
    conversation: Along = None,
    resolve: Resolve = None,
    agent: As = None,
) -> int:
    """Merge SOURCE into a branch. Nothing is checked out. Exit code 4 if there are conflicts."""
    repo, out = opened(context)
    target = branch_or_current(repo, into, option="--into")
    order = MergeOrder(MergeKind.MERGE, target, (source,), message=message, no_ff=no_ff, conversation=conversation)
    doing = f"Merging {source} into {target}"
    return carry_out(repo, out, order, doing=doing, only=preview, resolve=resolve, agent=agent)
