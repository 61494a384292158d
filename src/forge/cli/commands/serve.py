"""`forge serve`: the API, the web interface and the worker, as one server; a second start finds the first."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session
from forge.errors import NotFound

if TYPE_CHECKING:
    from forge.app.process.server_lock import Serving
    from forge.settings import Settings

app = Commands(__doc__)
_OWN_MACHINE = ("localhost", "::1")
_IN_A_REPOSITORY = "There you and agents work on {name}, on branches; your files here stay as they are until you merge."
_NO_REPOSITORY = "There is no repository here; ideas become projects there all the same, and repositories can be added."


@app.add()
def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="The address to listen on. Default: `server.host`.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, help="The port; 0 picks a free one. Default: `server.port`."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="HOST", help="Another host name of this server."),
    ] = None,
    open_: Annotated[
        bool,
        typer.Option("--open", help="Open the current repository in the browser."),
    ] = False,
    project: Annotated[
        str | None, typer.Option("--project", metavar="PROJECT", help="Open this project in the browser instead.")
    ] = None,
) -> None:
    """Run the server until Ctrl-C. Running turns continue at the next start.

    The server adds the current repository, or the one at -C DIR, to its list and shows it.
    """
    session: Session = context.obj
    # At a project, nobody asked for the repository here.
    place = session.directory if project is None else None
    if place is not None and not place.is_dir():
        raise NotFound(f"There is no directory {place}.", hint="Name one that exists: -C DIR.")
    _serve(session.output, host, port, names or (), _Opening(project, place, browser=open_))


@dataclass(frozen=True, slots=True)
class _Opening:
    """Where the address leads: to a project, or to the repository at a place."""

    project: str | None
    place: Path | None
    browser: bool


def _serve(out: Output, host: str | None, port: int | None, names: Sequence[str], opening: _Opening) -> None:
    # Nothing of what is loaded is ever garbage: looking for some on the way takes a fifth of the start.
    gc.disable()
    from forge.app.admin.settings import load_settings  # noqa: PLC0415
    from forge.app.process.server_lock import ServerRunning, only_server, until_found  # noqa: PLC0415 - loads the engine

    settings = load_settings(None, os.environ)
    if opening.project is not None:
        opening = replace(opening, project=_project(settings, opening.project))
    for warning in settings.warnings:
        out.note(f"forge: {warning}")
    if warning := exposure(host or settings.server.host):
        out.note(f"forge: {warning}")
    try:
        with only_server(settings.data_dir):
            # The faces do not know each other; this one only starts the other.
            server = import_module("forge.api.server")
            server.serve(
                settings,
                os.environ,
                host=host or settings.server.host,
                port=settings.server.port if port is None else port,
                names=names,
                told=lambda here, token: _begun(out, settings, here, token, opening),
            )
    except ServerRunning:
        found = asyncio.run(until_found(settings.data_dir))
        out.note("forge: a server runs on this data already; this is the way to it.")
        asyncio.run(_tell(out, found, _token(settings), opening))


def exposure(host: str) -> str:
    """What to tell who serves more than this machine; empty where nobody else can reach it."""
    if host in _OWN_MACHINE or host.startswith("127."):
        return ""
    return (
        f"{host} is reached from other machines, by plain HTTP: keys and work can be read on the way by everybody who "
        "reaches this machine. docs/team-server.md says how to share a server."
    )


def _project(settings: Settings, which: str) -> str:
    """The id of a project that is there, by its name or its directory's."""
    from forge.app.projects.resolve import project_meant  # noqa: PLC0415

    return project_meant(settings, which, Path()).id


async def _begun(out: Output, settings: Settings, serving: Serving, token: str, opening: _Opening) -> None:
    gc.freeze()
    await _tell(out, serving, token, opening)
    out.aside("Ctrl-C stops; running work continues at the next start. `forge --help` shows the commands.")
    await asyncio.to_thread(_describe, settings, serving)


def _describe(settings: Settings, serving: Serving) -> None:
    """Commands whose work the server does see with what settings it will be done."""
    from forge.app.process.server_lock import describe  # noqa: PLC0415
    from forge.app.process.settings_difference import digests  # noqa: PLC0415

    describe(settings.data_dir, serving, digests(settings, serving.secret))


def _token(settings: Settings) -> str:
    from forge.app.access.identity import one_time_token, server_secret  # noqa: PLC0415

    return one_time_token(server_secret(settings.data_dir))


async def _tell(out: Output, serving: Serving, token: str, opening: _Opening) -> None:
    """The address of what is to be opened; it is opened where somebody sits before a screen."""
    from forge.app.process.server_lock import add_repository  # noqa: PLC0415

    place = opening.place
    repository = await asyncio.to_thread(add_repository, serving, place) if place is not None else None
    path = f"/projects/{opening.project}" if opening.project else f"/r/{repository}" if repository else ""
    url = f"{serving.url}/?token={token}" + (f"&next={path}" if path else "")
    if out.json:
        # One line, because whoever reads it continues reading while the server runs.
        line = {"url": url, "token": token, "port": serving.port, "pid": serving.pid}
        out.raw(f"{json.dumps(line)}\n".encode())
    else:
        out.line(f"Forge is at {out.styled(url, 'bold')}")
        if place is not None and (repository or opening.browser):
            out.line(_IN_A_REPOSITORY.format(name=out.styled(place.name)) if repository else _NO_REPOSITORY)
        out.flush()
        out.aside("The address lets you in once; `forge serve` prints another.")
    out.flush()
    if opening.browser and out.terminal and _has_screen():
        await asyncio.to_thread(webbrowser.open, url)


def _has_screen() -> bool:
    """Without one, what opens is a browser in the terminal, or nothing."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
