"""`forge config`: settings shown with their origin, changed, and checked; secrets are never shown."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from forge.app.admin.settings import change_setting, load_settings, plugin_faults
from forge.app.repositories.catalog import Repository
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session
from forge.errors import ForgeError
from forge.settings import Settings, config_path, default_text
from forge.settings.catalog import listed, shown

app = Commands(__doc__, group=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Dotted, for example polish.max_iterations.")]


@app.add("show")
def show(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A section or one setting; all of them if left out.")
    ] = "",
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
) -> None:
    """Show the settings in force."""
    out, settings = _loaded(context)
    found = listed(settings, name)
    out.result({"path": settings.path, "settings": {each.name: _entry(each.value, each.origin) for each in found}})
    for each in found:
        line = f"{out.styled(each.name, 'cyan')} = {out.styled(_text(each.value))}"
        out.line(f"{line}  {out.styled(each.origin, 'dim')}" if origin else line)


@app.add("get")
def get(context: typer.Context, name: Name) -> None:
    """Print one value, as it is in force."""
    out, settings = _loaded(context)
    value = shown(settings, name)
    out.result({"name": name, **_entry(value, settings.origin(name))})
    out.line(out.styled(value if isinstance(value, str) else _text(value)))


@app.add("set")
def change(
    context: typer.Context,
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in the file: 3, true, null, a word, [a, b].")],
) -> None:
    """Change one value in your own file, and nothing else in it."""
    session: Session = context.obj
    out = session.output
    done = change_setting(os.environ, name, value)
    out.result(done)
    out.line(f"{out.styled(name, 'cyan')} = {out.styled(_text(done.value))} in {out.styled(str(done.path))}")
    if done.origin.startswith("variable "):
        out.note(f"The {done.origin} still decides: it wins over the file.")


@app.add("path")
def path(context: typer.Context) -> None:
    """Print where your own settings file is, or would be."""
    session: Session = context.obj
    found = config_path(os.environ)
    session.output.result({"path": found, "exists": found.exists()})
    session.output.line(session.output.styled(str(found)))


@app.add("check")
def check(context: typer.Context) -> None:
    """Check your settings file and the repository's; says what is wrong and where."""
    out, settings = _loaded(context)
    place = settings.path if settings.path is not None and settings.path.exists() else None
    warnings = (*settings.warnings, *plugin_faults(settings))
    out.result({"path": settings.path, "exists": place is not None, "warnings": warnings})
    for warning in warnings:
        out.note(f"forge: {warning}")
    out.line(f"{out.styled(str(place))} is right." if place else "There is no settings file; the defaults hold.")


@app.add("default")
def default(context: typer.Context) -> None:
    """Print the commented file with every default, to start your own from."""
    session: Session = context.obj
    out = session.output
    out.result({"text": default_text()})
    if not out.json:
        out.raw(default_text().encode())


def _loaded(context: typer.Context) -> tuple[Output, Settings]:
    session: Session = context.obj
    return session.output, load_settings(_repository(session.directory), os.environ)


def _repository(directory: Path) -> Repository | None:
    try:
        return Repository.open(directory)
    except ForgeError:
        return None


def _entry(value: Any, origin: str) -> dict[str, Any]:
    return {"value": value, "origin": origin}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) or not value else value
