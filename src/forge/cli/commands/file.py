"""`forge file`: the files of a branch, read and saved without a checkout. Saving is committing."""

from __future__ import annotations

import base64
import shlex
import sys
from typing import Annotated

import typer

from forge.app.repositories import write
from forge.app.repositories.catalog import FileTooLarge
from forge.app.repositories.files import FileMissing, NotText
from forge.cli.commands.search import search
from forge.cli.terminal import streams
from forge.cli.terminal.options import (
    As,
    At,
    Branch,
    Large,
    Message,
    acting,
    branch_or_current,
    looked_at,
    opened,
    short,
    tell_checkouts,
    with_file_limit,
)
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.questions import says_yes
from forge.errors import InvalidInput

app = Commands(__doc__, group=True)

# No setting of a limit is below it, so smaller files need none.
_SMALLEST_LIMIT = 1 << 20

Path = Annotated[str, typer.Argument(metavar="PATH", help="From the root of the repository.")]


@app.add("list")
def list_files(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(help="Only files whose path begins with this.")] = "",
    branch: Branch = None,
    at: At = None,
) -> None:
    """List files."""
    repo, out = opened(context)
    found = looked_at(repo, branch, at).list_files(prefix)
    if prefix and not found:
        raise FileMissing(f"No file begins with {prefix}.", hint="`forge file list` shows them all.")
    out.result(found)
    for path in found:
        out.line(out.styled(path))


@app.add("show")
def show(context: typer.Context, path: Path, branch: Branch = None, at: At = None) -> None:
    """Show a file, byte for byte. As JSON, what is not text comes as base64."""
    repo, out = opened(context)
    view = looked_at(repo, branch, at)
    if not out.json:
        out.raw(view.read_bytes(path))
        return
    try:
        content = {"text": view.read_file(path)}
    except NotText:
        content = {"base64": base64.b64encode(view.read_bytes(path)).decode()}
    out.result({"path": path, "mode": f"{view.mode(path):o}", **content})


app.add("search")(search)


@app.add("save")
def save(
    context: typer.Context,
    path: Path,
    branch: Branch = None,
    message: Message = None,
    executable: Annotated[bool | None, typer.Option("--executable/--plain", help="Set the mode.")] = None,
    large: Large = False,
    agent: As = None,
) -> None:
    """Save standard input as PATH: one commit on the branch."""
    repo, out = opened(context)
    name = branch_or_current(repo, branch)
    # In `forge file show f | edit | forge file save f` all three begin at once: this is what the person saw.
    seen = write.begun(repo, name, actor=acting(agent))
    data = _standard_input(out, path)
    if len(data) > _SMALLEST_LIMIT:
        seen.largest_file = with_file_limit(repo).largest_file

    def saved(*, yes: bool) -> write.Landed:
        return write.save(repo, name, path, data, executable=executable, message=message, seen=seen, large=yes)

    try:
        landed = saved(yes=large)
    except FileTooLarge as e:
        if agent is not None or not says_yes(f"{e.message} Save it?", json=out.json):
            raise
        landed = saved(yes=True)
    _tell(out, landed)


@app.add("rename")
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="The file, from the root of the repository.")],
    new: Annotated[str, typer.Argument(help="The new path.")],
    branch: Branch = None,
    message: Message = None,
    agent: As = None,
) -> None:
    """Rename a file: one commit on the branch."""
    repo, out = opened(context)
    name = branch_or_current(repo, branch)
    _tell(out, write.rename(repo, name, old, new, message=message, actor=acting(agent)))


@app.add("delete")
def delete(
    context: typer.Context, path: Path, branch: Branch = None, message: Message = None, agent: As = None
) -> None:
    """Delete a file: one commit on the branch."""
    repo, out = opened(context)
    name = branch_or_current(repo, branch)
    _tell(out, write.delete(repo, name, path, message=message, actor=acting(agent)))


def _standard_input(out: Output, path: str) -> bytes:
    if streams.is_closed(sys.stdin):
        hint = f"Pipe it in, or save an empty file: `forge file save {shlex.quote(path)} </dev/null`."
        raise InvalidInput("Standard input is closed, so there is no content to save.", hint=hint)
    if sys.stdin.isatty():
        out.note("Type the content; Ctrl-D at the beginning of a line ends it.")
    return sys.stdin.buffer.read()


def _tell(out: Output, landed: write.Landed) -> None:
    where = {"branch": landed.branch, "commit": landed.commit}
    out.result({**where, "files": landed.changes, "operation": landed.operation})
    if not landed.changes:
        out.line("Nothing changed: the branch has this content already.")
        return
    out.line(f"Saved → {out.styled(short(landed.commit or ''), 'yellow')} on {out.styled(landed.branch, 'cyan')}")
    tell_checkouts(out, landed.operation)
