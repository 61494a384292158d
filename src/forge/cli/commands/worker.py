"""`forge worker`: a further process that runs what waits, and continues with what dead processes left."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Annotated

import typer

from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session

app = Commands(__doc__)


@app.add()
def worker(
    context: typer.Context,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when nothing is left to do but to wait for people.")
    ] = False,
) -> None:
    """Work until it is told to stop (Ctrl-C); what is under way then is gone on with by the next worker."""
    from forge.app.process.garbage_collection import short_pauses  # noqa: PLC0415
    from forge.app.process.malloc import share_heaps  # noqa: PLC0415

    session: Session = context.obj
    share_heaps(os.environ)
    with short_pauses():
        asyncio.run(_work(session.output, until_idle=until_idle))


async def _work(out: Output, *, until_idle: bool) -> None:
    from forge.app.admin.settings import load_settings  # noqa: PLC0415 - loads the engine
    from forge.app.process.idle import has_work  # noqa: PLC0415
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    async with open_workshop(load_settings(None, os.environ), os.environ, serve=True) as shop:
        out.aside("Working. Ctrl-C stops; the next worker continues running work.")
        while not stop.is_set():
            if until_idle and not has_work(shop):
                break
            try:
                async with asyncio.timeout(0.5):
                    await stop.wait()
            except TimeoutError:
                continue
    out.result({"stopped": stop.is_set()})
