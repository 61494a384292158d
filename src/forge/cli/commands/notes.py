"""`forge notes`: your note on a project, which its agents read too: shown, edited."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.terminal.editor import edited, given_text
from forge.cli.terminal.output import ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import Which, opened_here, output_of
from forge.counts import counted

if TYPE_CHECKING:
    from forge.app.projects.notes import Note

app = Commands(__doc__, group=True)


@app.add("show")
def show(context: typer.Context, project: Which = None) -> None:
    """Print your note on a project."""
    out = output_of(context)
    note = asyncio.run(_note(context, project))
    out.result({"text": note.text, "version": note.version, "saved": note.saved})
    if out.json:
        return
    if note.text:
        out.raw(note.text.encode() if note.text.endswith("\n") else f"{note.text}\n".encode())
    out.aside(_told(note))


@app.add("edit")
def edit(
    context: typer.Context,
    project: Which = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Take the text from this file; - is standard input.")
    ] = None,
) -> None:
    """Write your note on a project: in your editor, from a file, or from what is piped in."""
    out = output_of(context)
    before = asyncio.run(_note(context, project))
    given = given_text(file)
    if given is not None:
        after = asyncio.run(_save(context, project, given, before.version))
    else:
        with edited(before.text, suffix="-note.md", instead="forge notes edit PROJECT --file FILE") as text:
            after = asyncio.run(_save(context, project, text, before.version))
    out.result({"text": after.text, "version": after.version, "saved": after.saved})
    out.line("Nothing changed." if after.version == before.version else f"Saved. {_told(after)}")


async def _note(context: typer.Context, project: str | None) -> Note:
    async with opened_here(context, project) as opened:
        return await opened.note()


async def _save(context: typer.Context, project: str | None, text: str, seen: int) -> Note:
    async with opened_here(context, project) as opened:
        return await opened.save_note(text, seen=seen)


def _told(note: Note) -> str:
    if note.saved is None:
        return "No note yet: `forge notes edit` writes one."
    return f"{counted(len(note.text), 'character')}, saved {ago(note.saved)}"
