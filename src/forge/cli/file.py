"""`forge file`: the files of a branch, read and saved without a checkout. Saving is committing."""

from __future__ import annotations

import base64
import sys
from typing import Annotated

import typer

from forge.cli.grep import grep
from forge.cli.options import (
    Agent,
    At,
    Branch,
    Message,
    acting,
    branch_or_current,
    looked_at,
    opened,
    short,
    tell_checkouts,
)
from forge.cli.output import Output
from forge.cli.parser import Commands
from forge.git import Mode, NotText, WorkInProgressVFS

app = Commands(__doc__, group=True)

Path = Annotated[str, typer.Argument(metavar="PATH", help="From the root of the repository.")]


@app.add("ls")
def list_files(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(help="Only files whose path begins with this.")] = "",
    branch: Branch = None,
    at: At = None,
) -> None:
    """List files."""
    repo, out = opened(context)
    files = looked_at(repo, branch, at).list_files(prefix)
    out.result(files)
    for path in files:
        out.line(out.styled(path))


@app.add("cat")
def cat(context: typer.Context, path: Path, branch: Branch = None, at: At = None) -> None:
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


app.add("grep")(grep)


@app.add("save")
def save(
    context: typer.Context,
    path: Path,
    branch: Branch = None,
    message: Message = None,
    executable: Annotated[bool | None, typer.Option("--executable/--plain", help="Set the mode.")] = None,
    agent: Agent = None,
) -> None:
    """Save standard input as PATH: one commit on the branch."""
    repo, out = opened(context)
    workspace = repo.workspace(branch_or_current(repo, branch), actor=acting(agent))
    mode = None if executable is None else Mode.EXECUTABLE if executable else Mode.FILE
    workspace.write_bytes(path, _standard_input(out), mode=mode)
    _committed(out, workspace, message or f"edit: {path.rpartition('/')[2]}")


@app.add("rename")
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="The file, from the root of the repository.")],
    new: Annotated[str, typer.Argument(help="The path it shall have.")],
    branch: Branch = None,
    message: Message = None,
    agent: Agent = None,
) -> None:
    """Rename a file: one commit on the branch."""
    repo, out = opened(context)
    workspace = repo.workspace(branch_or_current(repo, branch), actor=acting(agent))
    workspace.rename_file(old, new)
    _committed(out, workspace, message or f"rename: {old} to {new}")


@app.add("delete")
def delete(
    context: typer.Context, path: Path, branch: Branch = None, message: Message = None, agent: Agent = None
) -> None:
    """Delete a file: one commit on the branch."""
    repo, out = opened(context)
    workspace = repo.workspace(branch_or_current(repo, branch), actor=acting(agent))
    workspace.delete_file(path)
    _committed(out, workspace, message or f"delete: {path.rpartition('/')[2]}")


def _standard_input(out: Output) -> bytes:
    if sys.stdin.isatty():
        out.note("Type the content; Ctrl-D at the beginning of a line ends it.")
    return sys.stdin.buffer.read()


def _committed(out: Output, workspace: WorkInProgressVFS, message: str) -> None:
    changes = workspace.pending_changes()
    if not changes:
        out.result({"branch": workspace.branch, "commit": workspace.base, "files": {}, "operation": None})
        out.line("Nothing changed: the branch has this content already.")
        return
    commit = workspace.commit(message)
    operation = workspace.last_operation
    out.result({"branch": workspace.branch, "commit": commit, "files": changes, "operation": operation})
    out.line(f"Saved → {out.styled(short(commit), 'yellow')} on {out.styled(workspace.branch, 'cyan')}")
    tell_checkouts(out, operation)
