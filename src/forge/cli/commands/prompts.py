"""`forge prompts`: the words that agents are given: listed, shown, edited, compared with the default and reset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from forge.app.admin.prompts import Origin, Prompts, PromptUnusable
from forge.app.admin.prompts import prompts as prompts_of
from forge.app.admin.settings import load_settings
from forge.cli.terminal.editor import edited, given_text
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session

app = Commands(__doc__, group=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `forge prompts list` shows it.")]


@app.add("list")
def list_prompts(context: typer.Context) -> None:
    """List all prompts, and which of them are your own."""
    prompts, out = _opened(context)
    found = prompts.list()
    out.result({"prompts": found})
    words = {Origin.DEFAULT: "default", Origin.OVERRIDE: "yours, instead of the default", Origin.OWN: "yours"}
    out.table(
        (
            out.styled("✗", "red") if each.problem else out.styled("●" if each.path else "○", "cyan"),
            out.styled(each.name, "cyan"),
            out.styled(each.problem, "red") if each.problem else out.styled(words[each.origin], "dim"),
        )
        for each in found
    )


@app.add("show")
def show(
    context: typer.Context,
    name: Name,
    default: Annotated[bool, typer.Option("--default", help="The text that comes with Forge, not yours.")] = False,
) -> None:
    """Print a prompt as it is used."""
    prompts, out = _opened(context)
    text = prompts.default(name) if default else prompts.get(name)
    out.result({"name": name, "text": text})
    if not out.json:
        out.raw(text.encode())


@app.add("edit")
def edit(
    context: typer.Context,
    name: Name,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Take the text from this file; - is standard input.")
    ] = None,
) -> None:
    """Write your own text for a prompt: in your editor, from a file, or from what is piped in."""
    prompts, out = _opened(context)
    text = given_text(file)
    path = prompts.save(name, text) if text is not None else _edited(prompts, name)
    out.result({"name": name, "path": path, "changed": path is not None})
    out.line(f"Saved {out.styled(str(path))}; it is used from the next call on." if path else "Nothing was changed.")


@app.add("diff")
def diff(context: typer.Context, name: Name) -> None:
    """Show what your text changes in the default."""
    prompts, out = _opened(context)
    text = prompts.diff(name)
    out.result({"name": name, "diff": text})
    if not text:
        out.aside(f"{name} is as it comes with Forge.")
    elif not out.json:
        out.raw(text.encode())


@app.add("reset")
def reset(context: typer.Context, name: Name) -> None:
    """Go back to the default; your text is kept beside it."""
    prompts, out = _opened(context)
    kept = prompts.reset(name)
    out.result({"name": name, "kept": kept})
    out.line(f"Back to the default; yours is now {out.styled(str(kept))}." if kept else f"{name} is the default.")


def _opened(context: typer.Context) -> tuple[Prompts, Output]:
    session: Session = context.obj
    return prompts_of(load_settings(None, os.environ)), session.output


def _text_now(prompts: Prompts, name: str) -> str:
    """What the person starts from. A broken text of theirs cannot be edited; they start from the default then."""
    if name not in {prompt.name for prompt in prompts.list()}:
        return ""
    try:
        return prompts.get(name)
    except PromptUnusable:
        return prompts.default(name)


def _edited(prompts: Prompts, name: str) -> Path | None:
    """Let the person edit the text and save what they made of it; None if it is as before."""
    text = _text_now(prompts, name)
    with edited(text, suffix=f"-{name}.md", instead=f"forge prompts edit {name} --file FILE") as new:
        return prompts.save(name, new) if new != text else None
