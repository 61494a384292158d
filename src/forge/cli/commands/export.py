"""`forge export`: a copy of a branch that can be given away, as a branch or as a file for git."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from forge.app.admin.settings import load_settings
from forge.app.repositories.export import Export, ExportOrder, bundle, perform, previewed
from forge.app.repositories.merges import Conversation
from forge.cli.terminal.merge_preview import Preview
from forge.cli.terminal.options import Branch, branch_or_current, opened, short
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage
from forge.errors import NotFound

app = Commands(__doc__)


@app.add()
def export(
    context: typer.Context,
    branch: Branch = None,
    conversation: Annotated[
        Conversation | None,
        typer.Option(
            "--conversation",
            help="What the copy has of conversations: every turn, a summary, or nothing. If left out, what "
            "`merged_sessions` says.",
        ),
    ] = None,
    without: Annotated[
        bool, typer.Option("--without-sessions", help="Leave every conversation out: --conversation drop.")
    ] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NEW", help="The branch to make; BRANCH-export if left out.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--bundle", metavar="FILE", help="Also write it to a file that git can fetch from.")
    ] = None,
    preview: Preview = False,
) -> None:
    """Copy a branch to share it. The branch itself does not change."""
    repo, out = opened(context)
    if without and conversation not in {None, "drop"}:
        raise BadUsage(f"--without-sessions and --conversation {conversation} exclude each other.", hint="Give one.")
    if file is not None and not file.absolute().parent.is_dir():
        raise NotFound(f"There is no folder {file.parent} for the bundle.", hint="Make it first; nothing was done.")
    name = branch_or_current(repo, branch)
    order = ExportOrder(name, to or f"{name}-export", "drop" if without else conversation)
    made = previewed(repo, order, load_settings(repo, os.environ).merged_sessions)
    if not preview:
        perform(repo, made)
        if file is not None:
            bundle(repo, made.branch, file)
    told = {each.name: getattr(made, each.name) for each in fields(made) if each.name != "new"}
    out.result({**told, "performed": not preview, "bundle": str(file) if file and not preview else None})
    _describe(out, made, only=preview)


def _describe(out: Output, made: Export, *, only: bool) -> None:
    out.line(
        f"{'Would make' if only else 'Made'} {out.styled(made.branch, 'cyan')} at "
        f"{out.styled(short(made.commit), 'yellow')}: "
        f"{made.rewritten} commit{'s' * (made.rewritten != 1)} rewritten, "
        f"{made.left_out} left out that held only conversation."
    )
    if made.conversation is not None:
        out.line(f"  + {made.conversation}")
        out.aside("--conversation drop leaves the conversation out.")
    elif made.conversation_choice is not None:
        out.line("  The conversation is left out.")
