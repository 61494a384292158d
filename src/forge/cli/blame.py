"""`forge blame`: who wrote which line of a file, and in which commit."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.options import commands, opened, short
from forge.cli.output import ago
from forge.errors import InvalidInput

app = commands(__doc__)


@app.command()
def blame(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="From the root of the repository.")],
    at: Annotated[str, typer.Option("--at", metavar="REV", help="The commit or branch to look at.")] = "HEAD",
    lines: Annotated[str | None, typer.Option(metavar="FROM,TO", help="Only these lines.")] = None,
) -> None:
    """Show each line of PATH with the commit that wrote it."""
    repo, out = opened(context)
    found = repo.blame(path, at, lines=_range(lines) if lines else None)
    if out.json:
        out.result(list(found))
        return
    for line in found:
        who = f"{line.author.name[:16]:<16}"
        text = line.text.decode("utf-8", "replace")
        when = f"{ago(line.author.time):>10}"
        origin = f"{out.styled(short(line.commit), 'yellow')} {out.styled(who, 'dim')} {when}"
        out.line(f"{origin} {line.number:>5}  {out.styled(text)}")


def _range(text: str) -> tuple[int, int]:
    first, comma, last = text.partition(",")
    if not (first.isdigit() and (last.isdigit() or not comma)):
        raise InvalidInput(f"{text!r} is not a range of lines.", hint="Write it as 10,20.")
    return int(first), int(last or first)
