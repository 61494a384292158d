"""`forge diff`: what changed between two commits, branches or tags."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from forge.app.repositories.catalog import Repository
from forge.app.repositories.diff import (
    FileChange,
    brought_by,
    changes,
    left_default,
    patch_text,
    sizes,
    without_sessions,
)
from forge.cli.terminal.options import existing_branch, opened
from forge.cli.terminal.output import Output, byte_count
from forge.cli.terminal.pager import paged
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage

app = Commands(__doc__)

_NOTE = re.compile(rb" differ\n\Z")
_LONG_IDS = re.compile(rb"^index ([0-9a-f]{40})\.\.([0-9a-f]{40})", re.MULTILINE)
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@app.add()
def diff(
    context: typer.Context,
    old: Annotated[str | None, typer.Argument(help="The older commit, or the only one: then what it changed.")] = None,
    new: Annotated[str | None, typer.Argument(help="The newer commit.")] = None,
    branch: Annotated[
        str | None,
        typer.Option(
            "--branch",
            "-b",
            metavar="BRANCH",
            help="In place of NEW: what the branch changed since OLD; without OLD, since it left the default branch.",
        ),
    ] = None,
    path: Annotated[list[str] | None, typer.Option("--path", metavar="PATH", help="Only this path or folder.")] = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only names and numbers of lines.")] = False,
    binary: Annotated[
        bool, typer.Option("--binary", help="With the content of binary files, so that the patch can be applied.")
    ] = False,
    with_sessions: Annotated[
        bool, typer.Option("--with-sessions", help="Also the records of conversations, .forge/session*.")
    ] = False,
) -> None:
    """Show what changed from OLD to NEW, renames found; with one commit, what that commit changed. With a branch, what
    the branch changed.
    """
    repo, out = opened(context)
    every = changes(repo, *_ends(repo, old, new, branch), paths=path or ())
    found = every if with_sessions else without_sessions(every, path or ())
    along, gone = (None, None) if with_sessions or path else brought_by(every)
    if every and not found:
        out.aside("Only the conversation changed; --with-sessions shows it.")
    else:
        for sign, what in (("+", along), ("−", gone)):
            if what is not None:
                out.aside(f"{sign} {what}; --with-sessions shows them.")
    if out.json:
        out.result([_document(repo, change, patch=not stat, binary=binary) for change in found])
        return
    with paged(context, repo):
        if stat:
            _show_changes(out, repo, found)
        else:
            show_patches(out, repo, found, binary=binary)


def _ends(repo: Repository, old: str | None, new: str | None, branch: str | None) -> tuple[str, str | None]:
    if branch is not None:
        if new is not None:
            raise BadUsage("--branch and NEW name two things to compare with OLD.", hint="Leave one of them out.")
        branch = existing_branch(repo, branch)
        return old or left_default(repo, branch), branch
    if old is None:
        raise BadUsage("Name a commit, two commits, or a branch.", hint="For example forge diff --branch BRANCH.")
    return old, new


def show_patches(out: Output, repo: Repository, changes: tuple[FileChange, ...], *, binary: bool = False) -> None:
    for change in changes:
        patch = patch_text(repo, change, binary=binary)
        if change.binary and not binary:
            patch = _NOTE.sub(f" differ ({_size(repo, change)})\n".encode(), patch)
        _show_patch(out, patch if binary or not out.terminal else _LONG_IDS.sub(_short_ids, patch))


def _short_ids(found: re.Match[bytes]) -> bytes:
    return b"index " + found[1][:10] + b".." + found[2][:10]


def _size(repo: Repository, change: FileChange) -> str:
    """`binary, 3 MB`, and what it was before."""
    old, new = sizes(repo, change)
    was = f", was {byte_count(old)}" if change.old and change.new and old != new else ""
    return f"binary, {byte_count(new if change.new else old)}{was}"


def _show_changes(out: Output, repo: Repository, changes: tuple[FileChange, ...]) -> None:
    """One line a file: what happened, where, and how many lines."""
    out.table(
        (
            out.styled(change.kind.replace("_", " "), "dim"),
            out.styled(f"{change.old_path} → {change.path}" if change.old_path != change.path else change.path)
            if change.old_path and change.new_path
            else out.styled(change.path),
            _size(repo, change) if change.binary else f"+{change.additions or 0} −{change.deletions or 0}",
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


def _document(repo: Repository, change: FileChange, *, patch: bool, binary: bool) -> dict[str, object]:
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
        **({"size": sizes(repo, change)[1]} if change.binary else {}),
        **({"patch": patch_text(repo, change, binary=binary)} if patch else {}),
    }
