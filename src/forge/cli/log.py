"""`forge log`: commits, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from forge.cli.options import commands, opened, short
from forge.cli.output import Output, ago
from forge.git import Commit

app = commands(__doc__)


@app.command()
def log(
    context: typer.Context,
    rev: Annotated[str | None, typer.Argument(help="Branch, tag or commit; HEAD if left out.")] = None,
    path: Annotated[list[str] | None, typer.Option("--path", help="Only commits that changed this path.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Keep to one file across renames.")] = False,
    limit: Annotated[int | None, typer.Option("-n", min=0, help="How many commits; all if left out.")] = None,
    skip: Annotated[int, typer.Option(min=0, help="Leave out the first ones.")] = 0,
    grep: Annotated[str | None, typer.Option(help="Only commits whose message contains this.")] = None,
    author: Annotated[str | None, typer.Option(help="Only commits by this name or address.")] = None,
) -> None:
    """Show commits, newest first."""
    repo, out = opened(context)
    found = repo.log(
        *([rev] if rev else []), paths=path or (), follow=follow, limit=limit, skip=skip, grep=grep, author=author
    )
    if out.json:
        out.result([_document(commit) for commit in found])
        return
    _shown(out, found)


def _document(commit: Commit) -> dict[str, object]:
    return {
        "id": commit.id,
        "parents": commit.parents,
        "subject": commit.subject,
        "message": commit.message,
        "author": {"name": commit.author.name, "email": commit.author.email, "time": commit.author.time},
        "time": commit.committer.time,
    }


def _shown(out: Output, found: Iterator[Commit]) -> None:
    for commit in found:
        who = out.styled(commit.author.name, "dim")
        when = f"{ago(commit.committer.time):>10}"
        out.line(f"{out.styled(short(commit.id), 'yellow')}  {when}  {out.styled(commit.subject)}  {who}")
