"""`forge completion`: a script that lets bash, zsh or fish complete commands, options, branches and projects."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forge.cli.parser import Commands
from forge.cli.running import BadUsage, Session
from forge.cli.shells import Shell, script
from forge.errors import ForgeError

app = Commands(__doc__)


class Words(StrEnum):
    BRANCHES = "branches"
    PROJECTS = "projects"


@app.add()
def completion(
    context: typer.Context,
    shell: Annotated[Shell | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")] = None,
    words: Annotated[Words | None, typer.Option("--words", help="Print names instead, as the script does.")] = None,
) -> None:
    """Print the script. It knows all commands and options; only names of branches and projects are asked for."""
    session: Session = context.obj
    out = session.output
    if words is not None:
        names = _branches(session.directory) if words is Words.BRANCHES else _projects()
        out.result(names)
        for name in names:
            out.line(name)
        return
    if shell is None:
        raise BadUsage("Say for which shell.", hint="forge completion bash|zsh|fish")
    text = script(shell)
    out.result({"shell": shell, "script": text})
    out.line(text.rstrip("\n"))


def _branches(directory: Path) -> list[str]:
    from forge.app.repositories import Repository  # noqa: PLC0415 - asked for in the middle of typing

    try:
        return [name for name, _ in Repository.open(directory).refs.branches()]
    except ForgeError:  # outside of a repository there is nothing to propose
        return []


def _projects() -> list[str]:
    from forge.app.settings import load_settings  # noqa: PLC0415

    try:
        places = sorted(os.scandir(load_settings(None, os.environ).workspace / "projects"), key=lambda each: each.name)
    except (ForgeError, OSError):
        return []
    return [place.name for place in places if place.is_dir() and not place.name.startswith(".")]
