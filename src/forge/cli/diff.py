"""`forge diff`: what changed between two commits, branches or tags."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.comparing import FileChange, changes, patch_text, without_sessions
from forge.app.repositories import Repository
from forge.cli.options import opened
from forge.cli.output import Output
from forge.cli.parser import Commands

app = Commands(__doc__)

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@app.add()
def diff(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="The older commit, or the only one: then what it changed.")],
    new: Annotated[str | None, typer.Argument(help="The newer commit.")] = None,
    path: Annotated[list[str] | None, typer.Option("--path", metavar="PATH", help="Only this path or folder.")] = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only names and numbers of lines.")] = False,
    with_sessions: Annotated[
        bool, typer.Option("--with-sessions", help="Also the records of conversations, .forge/session*.")
    ] = False,
) -> None:
    """Show what changed from OLD to NEW, renames found; with one commit, what that commit changed."""
    repo, out = opened(context)
    every = changes(repo, old, new, paths=path or ())
    found = every if with_sessions else without_sessions(every, path or ())
    if every and not found:
        out.aside("Only the conversation changed; --with-sessions shows it.")
    if out.json:
        out.result([_document(repo, change, patch=not stat) for change in found])
    elif stat:
        _show_changes(out, found)
    else:
        for change in found:
            _show_patch(out, patch_text(repo, change))


def _show_changes(out: Output, changes: tuple[FileChange, ...]) -> None:
    """One line a file: what happened, where, and how many lines."""
    out.table(
        (
            out.styled(change.kind.replace("_", " "), "dim"),
            out.styled(f"{change.old_path} → {change.path}" if change.old_path != change.path else change.path)
            if change.old_path and change.new_path
            else out.styled(change.path),
            "binary" if change.binary else f"+{change.additions or 0} −{change.deletions or 0}",
        )
        for change in changes
    )


def _show_patch(out: Output, patch: bytes) -> None:
    """A patch as git would print it: byte for byte into a pipe, coloured and made safe on a terminal."""
    if not out.terminal:
        out.raw(patch)
        return
    for line in patch.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n"):
        colour = _COLOURS.get(line[:1])
        out.line(out.styled(line.removesuffix("\r"), *([colour] if colour else [])))


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
        **({"patch": patch_text(repo, change)} if patch else {}),
    }
