"""`forge push`: send a branch to a remote, with its conversation or without it. Credentials are git's own."""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from typing import Annotated

import typer

from forge.app.admin.settings import load_settings
from forge.app.repositories.merges import Conversation
from forge.app.repositories.push import Push, PushOrder, perform, previewed
from forge.cli.terminal.merge_preview import Preview
from forge.cli.terminal.options import As, Branch, acting, branch_or_current, opened, short
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.progress import waiting
from forge.counts import counted

app = Commands(__doc__)

_DONE = {"created": "Created", "updated": "Updated", "replaced": "Replaced"}


@app.add()
def push(
    context: typer.Context,
    branch: Branch = None,
    remote: Annotated[
        str | None, typer.Option("--remote", "-r", metavar="NAME", help="The remote. Default: the only one, or origin.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="The branch on the remote. Default: the same name.")
    ] = None,
    conversation: Annotated[
        Conversation | None,
        typer.Option(
            "--conversation",
            help="What goes along of the conversation: every turn, a summary, or nothing. If left out: as in the last "
            "push to that branch, else what `merged_sessions` says for the default branch, else every turn.",
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--force-with-lease",
            help="Replace the branch named with --to, if it is still where it was last seen.",
        ),
    ] = False,
    preview: Preview = False,
    agent: As = None,
) -> None:
    """Push a branch to a remote with git. Your branch does not change."""
    repo, out = opened(context)
    order = PushOrder(branch_or_current(repo, branch), remote, to, conversation, replace)
    found = previewed(repo, order, load_settings(repo, os.environ).merged_sessions)
    if not preview:
        may_ask = not out.json and sys.stdin.isatty()
        with waiting(out, f"Pushing {found.branch} to {found.remote}"):
            found = perform(repo, found, actor=acting(agent), may_ask=may_ask)
    told = {each.name: getattr(found, each.name) for each in fields(found) if each.name not in {"new", "lease"}}
    out.result({**told, "performed": not preview})
    _describe(out, found)


def _describe(out: Output, push: Push) -> None:
    there = out.styled(f"{push.remote}/{push.to}", "cyan")
    at = out.styled(short(push.commit), "yellow")
    match push.state:
        case "unchanged":
            out.line(f"{there} is at {at} already.")
        case "preview":
            out.line(f"Would push {out.styled(push.branch, 'cyan')} to {there} at {at} ({out.styled(push.url)}).")
            if push.replaces and push.lease is None:
                out.note(
                    "The branch there has other commits: git will refuse. --to NAME --force-with-lease replaces it."
                )
        case done:
            out.line(f"{_DONE[done]} {there} at {at}.")
    if push.rewritten or push.left_out:
        left = f", {push.left_out} left out that held only conversation" if push.left_out else ""
        out.line(f"  {counted(push.rewritten, 'commit')} rewritten{left}; your branch keeps its own.")
    if push.conversation is not None:
        out.line(f"  + {push.conversation}")
        out.aside("--conversation drop leaves the conversation out.")
    elif push.conversation_choice is not None:
        out.line("  The conversation is left out.")
