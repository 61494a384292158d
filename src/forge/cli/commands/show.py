"""`forge show`: one commit with its message and what it changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from forge.app.repositories.diff import changes, without_sessions
from forge.cli.commands.diff import show_patches
from forge.cli.terminal.options import Branch, existing_branch, opened
from forge.cli.terminal.output import plain
from forge.cli.terminal.pager import paged
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage

app = Commands(__doc__)


@app.add()
def show(
    context: typer.Context,
    rev: Annotated[str | None, typer.Argument(help="Branch, tag or commit. Default: HEAD.")] = None,
    branch: Branch = None,
    binary: Annotated[
        bool, typer.Option("--binary", help="With the content of binary files, so that the patch can be applied.")
    ] = False,
) -> None:
    """Show a commit: who, when, its message, and what it changed."""
    if rev is not None and branch is not None:
        raise BadUsage("--branch and REV name two commits.", hint="Leave one of them out.")
    repo, out = opened(context)
    commit = repo.commit(existing_branch(repo, branch) if branch is not None else rev or "HEAD")
    found = without_sessions(changes(repo, commit.id), ())
    out.result({**plain(commit), "files": [change.path for change in found]})
    if out.json:
        return
    with paged(context, repo):
        when = datetime.fromtimestamp(commit.author.time, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
        out.line(out.styled(f"commit {commit.id}", "yellow"))
        out.line(f"Author: {out.styled(f'{commit.author.name} <{commit.author.email}>')}")
        out.line(f"Date:   {when}")
        out.line()
        for line in commit.message.rstrip("\n").split("\n"):
            out.line(f"    {out.styled(line.removesuffix(chr(13)))}".rstrip())
        out.line()
        show_patches(out, repo, found, binary=binary)
