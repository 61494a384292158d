"""`forge blame`: who wrote which line of a file, and in which commit."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.terminal.options import Branch, existing_branch, opened, short
from forge.cli.terminal.output import ago, cut
from forge.cli.terminal.pager import paged
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage

app = Commands(__doc__)


@app.add()
def blame(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="From the root of the repository.")],
    branch: Branch = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="REV", help="The commit or branch to read. Default: HEAD.")
    ] = None,
    lines: Annotated[str | None, typer.Option("--lines", metavar="FROM,TO", help="Only these lines.")] = None,
) -> None:
    """Show each line of PATH with the commit that wrote it."""
    wanted = _range(lines) if lines is not None else None
    if branch is not None and at is not None:
        raise BadUsage("--branch and --at name two things to look at.", hint="Leave one of them out.")
    repo, out = opened(context)
    rev = existing_branch(repo, branch) if branch is not None else at or "HEAD"
    found = repo.blame(path, rev, lines=wanted)
    if out.json:
        out.result(list(found))
        return
    with paged(context, repo):
        for line in found:
            who = f"{cut(line.author.name, 16):<16}"
            text = line.text.decode("utf-8", "surrogateescape").removesuffix("\r")
            when = f"{ago(line.author.time):>10}"
            origin = f"{out.styled(short(line.commit), 'yellow')} {out.styled(who, 'dim')} {when}"
            out.line(f"{origin} {line.number:>5}  {out.styled(text)}")


def _range(text: str) -> tuple[int, int]:
    first, comma, last = text.partition(",")
    if not (first.isdecimal() and (last.isdecimal() or not comma)):
        raise BadUsage(f"{text!r} is not a range of lines.", hint="Write it as 10,20, or as 10 for one line.")
    found = int(first), int(last or first)
    if not 1 <= found[0] <= found[1]:
        raise BadUsage(f"{text!r} is not a range of lines.", hint="Lines count from 1, the smaller number first.")
    return found
