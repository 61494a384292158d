"""`forge merge`: bring the work of one branch into another."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from forge.app.admin.settings import load_settings
from forge.app.repositories.merges import Conversation, MergeKind, MergeOrder, previewed
from forge.cli.terminal.merge_preview import Preview, Resolve, carry_out
from forge.cli.terminal.options import As, Message, branch_or_current, opened
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.progress import waiting

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
    conversation: Annotated[
        Conversation | None,
        typer.Option(
            "--conversation",
            help="What comes along of SOURCE's conversation: every turn, a summary, or nothing. Onto a default branch "
            "what `merged_sessions` says, elsewhere every turn.",
        ),
    ] = None,
    resolve: Resolve = None,
    agent: As = None,
) -> int:
    """Merge SOURCE into a branch. Nothing is checked out. Exit code 4 if there are conflicts."""
    repo, out = opened(context)
    target = branch_or_current(repo, into, option="--into")
    with waiting(out, f"Merging {source} into {target}"):
        order = MergeOrder(MergeKind.MERGE, target, (source,), message=message, no_ff=no_ff, conversation=conversation)
        found = previewed(repo, order, usual=load_settings(repo, os.environ).merged_sessions)
    return carry_out(repo, out, found, only=preview, resolve=resolve, agent=agent)
