"""`forge completion`: a script that lets bash, zsh or fish complete commands, options and names."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.terminal.name_completion import Words, proposed
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage, Session
from forge.cli.terminal.shells import Shell, script

app = Commands(__doc__)


@app.add()
def completion(
    context: typer.Context,
    shell: Annotated[Shell | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")] = None,
    words: Annotated[Words | None, typer.Option("--words", help="Print names instead, as the script does.")] = None,
    begun: Annotated[str, typer.Option("--begun", metavar="TEXT", help="With --words paths: the path so far.")] = "",
    at: Annotated[
        str | None, typer.Option("--at", metavar="REV", help="With --words paths: whose; HEAD's if left out.")
    ] = None,
) -> None:
    """Print the script. It knows all commands and options; only names, such as those of branches, are asked for."""
    session: Session = context.obj
    out = session.output
    if words is not None:
        names = proposed(words, session.directory, begun=begun, at=at)
        out.result(names)
        for name in names:
            out.line(name)
        return
    if shell is None:
        raise BadUsage("Say for which shell.", hint="forge completion bash|zsh|fish")
    text = script(shell)
    out.result({"shell": shell, "script": text})
    out.line(text.rstrip("\n"))
