"""`forge cherry-pick`: copy commits onto a branch."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories.merges import MergeKind, MergeOrder
from forge.cli.terminal.merge_preview import Along, Preview, Resolve, carry_out
from forge.cli.terminal.options import As, branch_or_current, opened
from forge.cli.terminal.parser import Commands

app = Commands(__doc__)


@app.add()
def cherry_pick(
    context: typer.Context,
    commits: Annotated[list[str], typer.Argument(metavar="COMMIT", help="The commits, oldest first.")],
    onto: Annotated[
        str | None, typer.Option("--onto", metavar="BRANCH", help="The branch to copy to; the current one.")
    ] = None,
    preview: Preview = False,
    mainline: Annotated[
        int | None,
        typer.Option("--mainline", metavar="N", min=1, help="Which parent of a merge its change is against."),
    ] = None,
    record_origin: Annotated[bool, typer.Option("-x", help="Name the original commit in the message.")] = False,
    conversation: Along = None,
    resolve: Resolve = None,
    agent: As = None,
) -> int:
    """Copy commits onto a branch, each as a commit of its own. Exit code 4 if there are conflicts."""
    repo, out = opened(context)
    target = branch_or_current(repo, onto, option="--onto")
    order = MergeOrder(
        MergeKind.CHERRY_PICK,
        target,
        tuple(commits),
        mainline=mainline,
        record_origin=record_origin,
        conversation=conversation,
    )
    doing = f"Copying {', '.join(commits[:3])} onto {target}"
    return carry_out(repo, out, order, doing=doing, only=preview, resolve=resolve, agent=agent)
