"""`forge context`: which files an agent has before it on a branch: shown, added, removed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from forge.app.admin.settings import load_settings
from forge.app.repositories.catalog import Repository
from forge.app.sessions import context as session_context
from forge.app.sessions.context import ActiveFile
from forge.app.sessions.conversation import Sessions, sessions_of
from forge.cli.terminal.options import Branch, branch_or_current, branch_to_read, opened
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage

app = Commands(__doc__, group=True)

_RANGES = re.compile(r"(?P<path>.+):(?P<lines>\d+-\d+(?:,\d+-\d+)*)")


@app.add("show")
def show(context: typer.Context, branch: Branch = None) -> None:
    """Show the files in context. AGENTS.md and CLAUDE.md are in it until they are removed."""
    repo, out = opened(context)
    _tell(out, session_context.active_files(_sessions(repo), branch_to_read(repo, branch)))


@app.add("add")
def add(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="A path, folder or pattern; FILE:10-40,60-80 for lines only."),
    ],
    branch: Branch = None,
) -> None:
    """Add files to the context: every turn gets their text until you remove them. Makes no commit."""
    repo, out = opened(context)
    wanted = [_parsed(file) for file in files]
    _tell(out, _changed(repo, branch_or_current(repo, branch), wanted, ()))


@app.add("remove")
def remove(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="A path, folder or pattern.")],
    branch: Branch = None,
) -> None:
    """Remove files from the context."""
    repo, out = opened(context)
    _tell(out, _changed(repo, branch_or_current(repo, branch), (), files))


def _changed(repo: Repository, branch: str, add: Sequence[ActiveFile], remove: Sequence[str]) -> tuple[ActiveFile, ...]:
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - these load the database
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.sessions.context_change import change_found  # noqa: PLC0415

    settings = load_settings(repo, os.environ)
    with opened_access(settings, os.environ) as access:
        return change_found(access, LOCAL, repo, sessions_of(repo, settings), branch, add=add, remove=remove)


def _sessions(repo: Repository) -> Sessions:
    return sessions_of(repo, load_settings(repo, os.environ))


def _parsed(word: str) -> ActiveFile:
    found = _RANGES.fullmatch(word)
    if found is None:
        return ActiveFile(word)
    ranges = []
    for part in found["lines"].split(","):
        first, last = map(int, part.split("-"))
        if not 1 <= first <= last:
            raise BadUsage(f"{part} is no range of lines.", hint="Give the first and the last, for example 10-40.")
        ranges.append((first, last))
    return ActiveFile(found["path"], tuple(ranges))


def _tell(out: Output, files: Sequence[ActiveFile]) -> None:
    out.result({"active_files": [asdict(file) for file in files], "commit": None})
    if not files:
        out.aside("No file is in context.")
    for file in files:
        lines = ", ".join(f"{first}–{last}" for first, last in file.ranges)
        state = out.styled("◐" if lines else "●", "cyan")
        out.line(f"{state} {out.styled(file.path)} {out.styled(lines, 'dim')}".rstrip())
