"""`forge log`: commits, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories.history import commit_entry
from forge.cli.terminal.options import MOST, Branch, existing_branch, opened, short
from forge.cli.terminal.output import ago
from forge.cli.terminal.pager import paged
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage

app = Commands(__doc__)


@app.add()
def log(
    context: typer.Context,
    rev: Annotated[str | None, typer.Argument(help="Branch, tag or commit. Default: HEAD.")] = None,
    branch: Branch = None,
    path: Annotated[
        list[str] | None, typer.Option("--path", metavar="PATH", help="Only commits that changed this path.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Keep to the one --path across renames.")] = False,
    limit: Annotated[
        int | None, typer.Option("-n", metavar="N", min=0, max=MOST, help="How many commits. Default: all.")
    ] = None,
    skip: Annotated[int, typer.Option("--skip", metavar="N", min=0, max=MOST, help="Leave out the first ones.")] = 0,
    grep: Annotated[
        str | None, typer.Option("--grep", metavar="TEXT", help="Only commits whose message contains this.")
    ] = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="TEXT", help="Only commits by this name or address.")
    ] = None,
) -> None:
    """Show commits, newest first."""
    if follow and len(path or ()) != 1:
        raise BadUsage("--follow keeps to one file.", hint="Name it with --path PATH.")
    if rev is not None and branch is not None:
        raise BadUsage("--branch and REV name two places to begin.", hint="Leave one of them out.")
    repo, out = opened(context)
    rev = existing_branch(repo, branch) if branch is not None else rev
    found = repo.log(
        *([rev] if rev else []), paths=path or (), follow=follow, limit=limit, skip=skip, grep=grep, author=author
    )
    if out.json:
        out.result([commit_entry(commit) for commit in found])
        return
    if repo.is_empty:
        out.aside("There is no commit yet: the first `forge file save` makes one.")
    with paged(context, repo):
        for commit in found:
            who = out.styled(commit.author.name, "dim")
            when = f"{ago(commit.committer.time):>10}"
            out.line(f"{out.styled(short(commit.id), 'yellow')}  {when}  {out.styled(commit.subject)}  {who}")
