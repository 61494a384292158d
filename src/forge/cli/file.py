"""`forge file`: the files of a branch, read and saved without a checkout. Saving is committing."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from forge.cli.grep import grep
from forge.cli.options import Agent, Message, acting, branch_or_current, commands, opened, short, tell_checkouts
from forge.cli.output import Output
from forge.git import GitCommitVFS, Mode, Repository, WorkInProgressVFS

app = commands(__doc__, group=True)
app.command("grep")(grep)

Path = Annotated[str, typer.Argument(metavar="PATH", help="From the root of the repository.", show_default=False)]
Branch = Annotated[str | None, typer.Option("--branch", "-b", help="The branch; the current one if left out.")]
At = Annotated[str | None, typer.Option("--at", metavar="REV", help="Look at this commit instead of a branch tip.")]


def _view(repo: Repository, branch: str | None, at: str | None) -> GitCommitVFS:
    return repo.commit_vfs(at or branch_or_current(repo, branch))


@app.command("ls")
def list_files(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(help="Only files whose path begins with this.")] = "",
    branch: Branch = None,
    at: At = None,
) -> None:
    """List files."""
    repo, out = opened(context)
    files = _view(repo, branch, at).list_files(prefix)
    out.result(files)
    for path in files:
        out.line(out.styled(path))


@app.command("cat")
def cat(
    context: typer.Context,
    path: Path,
    branch: Branch = None,
    at: At = None,
) -> None:
    """Show a file, byte for byte."""
    repo, out = opened(context)
    view = _view(repo, branch, at)
    if out.json:
        out.result({"path": path, "mode": f"{view.mode(path):o}", "text": view.read_file(path)})
    else:
        sys.stdout.buffer.write(view.read_bytes(path))


@app.command("save")
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
    workspace.write_bytes(path, sys.stdin.buffer.read(), mode=mode)
    _committed(out, workspace, message or f"edit: {path.rpartition('/')[2]}")


@app.command("rename")
def rename(
    context: typer.Context,
    old: Path,
    new: Path,
    branch: Branch = None,
    message: Message = None,
    agent: Agent = None,
) -> None:
    """Rename a file: one commit on the branch."""
    repo, out = opened(context)
    workspace = repo.workspace(branch_or_current(repo, branch), actor=acting(agent))
    workspace.rename_file(old, new)
    _committed(out, workspace, message or f"rename: {old} to {new}")


@app.command("delete")
def delete(
    context: typer.Context,
    path: Path,
    branch: Branch = None,
    message: Message = None,
    agent: Agent = None,
) -> None:
    """Delete a file: one commit on the branch."""
    repo, out = opened(context)
    workspace = repo.workspace(branch_or_current(repo, branch), actor=acting(agent))
    workspace.delete_file(path)
    _committed(out, workspace, message or f"delete: {path.rpartition('/')[2]}")


def _committed(out: Output, workspace: WorkInProgressVFS, message: str) -> None:
    changes = workspace.pending_changes()
    if not changes:
        out.result({"branch": workspace.branch, "commit": workspace.base, "files": {}, "checkouts": []})
        out.line("Nothing changed: the branch has this content already.")
        return
    commit = workspace.commit(message)
    operation = workspace.last_operation
    checkouts = operation.checkouts if operation else ()
    out.result({"branch": workspace.branch, "commit": commit, "files": changes, "checkouts": checkouts})
    out.line(f"Saved → {out.styled(short(commit), 'yellow')} on {out.styled(workspace.branch, 'cyan')}")
    tell_checkouts(out, operation)
