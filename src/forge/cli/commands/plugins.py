"""`forge plugins`: which plugins are loaded, what each brings, and which cannot be used."""

from __future__ import annotations

import os

import typer

from forge.app.admin.plugin_list import list_plugins
from forge.app.admin.settings import load_settings
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session

app = Commands(__doc__)


@app.add()
def plugins(context: typer.Context) -> None:
    """List plugins and what each brings: deliverable types, prompts, tools, connectors, channels, boards."""
    session: Session = context.obj
    out = session.output
    found = list_plugins(load_settings(None, os.environ))
    out.result(found)
    for plugin in found.plugins:
        out.line(out.styled(plugin.name, "bold"))
        for each in plugin.brings:
            part, _, name = each.partition(": ")
            out.line(f"  {out.styled(name, 'cyan')} {out.styled(part, 'dim')}")
    for problem in found.problems:
        out.line(f"{out.styled('✗', 'red')} {problem}")
