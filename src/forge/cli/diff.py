"""`forge diff`: what changed between two commits, branches or tags."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from forge.cli.options import commands, opened
from forge.cli.output import Output, shown
from forge.git import FileChange, Repository

app = commands(__doc__)

_SIGNS = {b"+": "\x1b[32m", b"-": "\x1b[31m", b"@": "\x1b[36m"}


@app.command()
def diff(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="The older commit, or the only one: then what it changed.")],
    new: Annotated[str | None, typer.Argument(help="The newer commit.")] = None,
    path: Annotated[list[str] | None, typer.Option("--path", help="Only this path or folder.")] = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only names and numbers of lines.")] = False,
) -> None:
    """Show what changed from OLD to NEW, renames found; with one commit, what that commit changed."""
    repo, out = opened(context)
    before: str | None = old
    if new is None:
        parents = repo.commit(old).parents
        before, new = (parents[0] if parents else None), old
    changes = repo.diff(before, new, paths=path or ())
    if out.json:
        out.result([_document(repo, change, patch=not stat) for change in changes])
    elif stat:
        show_changes(out, changes)
    else:
        for change in changes:
            _write(repo.patch(change))


def show_changes(out: Output, changes: tuple[FileChange, ...]) -> None:
    """One line a file: what happened, where, and how many lines."""
    out.table(
        (
            out.styled(change.kind, "dim"),
            out.styled(f"{change.old_path} → {change.path}" if change.kind == "renamed" else change.path),
            "binary" if change.binary else f"+{change.additions or 0} −{change.deletions or 0}",
        )
        for change in changes
    )


def _document(repo: Repository, change: FileChange, *, patch: bool) -> dict[str, object]:
    return {
        "kind": change.kind,
        "old_path": change.old_path,
        "new_path": change.new_path,
        "old_mode": f"{change.old.mode:o}" if change.old else None,
        "new_mode": f"{change.new.mode:o}" if change.new else None,
        "old_id": change.old.id if change.old else None,
        "new_id": change.new.id if change.new else None,
        "similarity": change.similarity,
        "binary": change.binary,
        "additions": change.additions,
        "deletions": change.deletions,
        **({"patch": repo.patch(change)} if patch else {}),
    }


def _write(patch: bytes) -> None:
    """A patch as git would print it: byte for byte into a pipe, coloured and made safe on a terminal."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(patch)
        return
    for line in patch.splitlines():
        text = shown(line.decode("utf-8", "replace"))
        colour = _SIGNS.get(line[:1])
        print(f"{colour}{text}\x1b[0m" if colour else text)  # noqa: T201
