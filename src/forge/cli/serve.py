"""`forge serve`: the API, the web interface and the worker in one process; a second start finds the first."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import webbrowser
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.output import Output
from forge.cli.parser import Commands
from forge.cli.running import Session

if TYPE_CHECKING:
    from forge.app.serving import Serving
    from forge.settings import Settings

app = Commands(__doc__)


@app.add()
def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen; `server.host` if left out.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=65535, help="`server.port` if left out; 0 is any free one."),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="HOST", help="A further host name that people use for this server."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Serve until it is told to stop (Ctrl-C); turns that are under way then go on at the next start."""
    session: Session = context.obj
    asyncio.run(_serve(session.output, host, port, names or (), open_=open_))


async def _serve(out: Output, host: str | None, port: int | None, names: Sequence[str], *, open_: bool) -> None:
    # Nothing of what is loaded is ever garbage: looking for some on the way takes a fifth of the start.
    gc.disable()
    from forge.app.serving import ServerRunning, only_server, until_found  # noqa: PLC0415 - loads the engine
    from forge.app.settings import load_settings  # noqa: PLC0415

    settings = load_settings(None, os.environ)
    for warning in settings.warnings:
        out.note(f"forge: {warning}")
    try:
        with only_server(settings.data_dir):
            # The faces do not know each other; this one only starts the other.
            server = import_module("forge.api.server")
            await server.serve(
                settings,
                os.environ,
                host=host or settings.server.host,
                port=settings.server.port if port is None else port,
                names=names,
                told=lambda serving, token: _begun(out, serving, token, open_=open_),
            )
    except ServerRunning:
        await _tell_running(out, settings, await until_found(settings.data_dir), open_=open_)


def _begun(out: Output, serving: Serving, token: str, *, open_: bool) -> None:
    gc.freeze()
    gc.enable()
    _tell(out, serving, token, open_=open_)


async def _tell_running(out: Output, settings: Settings, found: Serving, *, open_: bool) -> None:
    from forge.app.identity import one_time_token, server_secret  # noqa: PLC0415

    out.note("forge: a server runs on this data already; this is the way to it.")
    _tell(out, found, one_time_token(server_secret(settings.data_dir)), open_=open_)


def _tell(out: Output, serving: Serving, token: str, *, open_: bool) -> None:
    url = f"{serving.url}/?token={token}"
    if out.json:
        # One line, because whoever reads it goes on reading while the server runs.
        line = {"url": url, "token": token, "port": serving.port, "pid": serving.pid}
        out.raw(f"{json.dumps(line)}\n".encode())
    else:
        out.line(f"Forge is at {out.styled(url, 'bold')}")
        out.aside("The address lets you in once. Ctrl-C stops; what is under way goes on at the next start.")
    out.flush()
    if open_:
        webbrowser.open(url)
