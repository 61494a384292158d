"""`forge models`: who can answer: providers and whether they have a key, agent programs, and who answers by itself."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import typer

from forge.app.admin.models import Price, answerers
from forge.app.admin.settings import load_settings
from forge.app.repositories.catalog import Repository
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session
from forge.errors import ForgeError

app = Commands(__doc__)


@app.add()
def models(context: typer.Context) -> None:
    """List models and agent programs. Shows where each key comes from, never the key."""
    session: Session = context.obj
    out = session.output
    settings = load_settings(_repository(session.directory), os.environ)
    found = answerers(settings, os.environ)
    programs = found.programs
    out.result(
        {
            "chat": found.chat,
            "providers": [asdict(each) for each in found.providers],
            "programs": [{"name": p.program.name, "version": p.version, "path": str(p.executable)} for p in programs],
        }
    )
    out.line(f"Answers by itself: {out.styled(found.chat, 'bold')}")
    out.line()
    out.table(
        (
            out.styled("●", "green") if each.usable else out.styled("○", "dim"),
            out.styled(each.provider, "cyan"),
            out.styled(each.model or ""),
            out.styled(each.how, "dim"),
            out.styled(_price(each.price), "dim"),
        )
        for each in found.providers
    )
    for program in programs:
        name = program.program.name
        out.line(f"● {out.styled(name, 'cyan')} {program.version} — forge chat --agent {name}")
    if not programs:
        out.aside("No agent program was found (claude, codex, gemini, opencode).")


def _price(price: Price | None) -> str:
    return f"${price.input:g} in, ${price.output:g} out per million tokens" if price else ""


def _repository(directory: Path) -> Repository | None:
    try:
        return Repository.open(directory)
    except ForgeError:
        return None
