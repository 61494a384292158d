"""A server: this process works; its door, which is forked from it, answers. They begin and end together."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import secrets
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager

from forge.api.door import Door, Opening, made
from forge.api.garbage import short_pauses
from forge.app.identity import one_time_token, server_secret
from forge.app.serving import Serving, announced
from forge.app.workshop import load_workflows, open_workshop
from forge.errors import Conflict, InvalidInput
from forge.settings import Settings

_GIVES_WAY = 5
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to

Told = Callable[[Serving, str], Coroutine[None, None, None]]
"""Called when the server answers, with a token for one sign-in."""


class PortTaken(Conflict):
    code = "port_taken"


class AddressUnusable(InvalidInput):
    code = "address_unusable"


def serve(
    settings: Settings, environ: Mapping[str, str], *, host: str, port: int, names: Sequence[str], told: Told
) -> None:
    """Until a signal ends it: runs that are under way stop where they are, and go on at the next start.

    Call it with the data directory's lock held, while the process has one thread. `names` are further host names
    that the server goes by.
    """
    called = [*names, *settings.server.allowed_hosts, *([] if host in _ANYWHERE else [host])]
    load_workflows()
    # Both have what is loaded by now, in the same memory for as long as nobody writes to it.
    gc.freeze()
    with _bound(host, port) as listening:
        here = Serving(os.getpid(), host, listening.getsockname()[1], secrets.token_urlsafe(32))
        door = made(Opening(settings, environ, here, listening, called))
        try:
            # Who asks is answered first, and a command that an agent runs leaves the machine to the people at it.
            os.nice(_GIVES_WAY)
            asyncio.run(_work(settings, environ, here, door, told))
        finally:
            door.end()


async def _work(settings: Settings, environ: Mapping[str, str], here: Serving, door: Door, told: Told) -> None:
    async with open_workshop(settings, environ, serve=True):
        with _ending(door), short_pauses():
            if await door.open():
                with announced(settings.data_dir, here):
                    telling = asyncio.create_task(told(here, one_time_token(server_secret(settings.data_dir))))
                    await door.until_closed()
                    await telling
            # What is begun at the door is run here, so the door is the first to go.
            await door.gone()


@contextmanager
def _ending(door: Door) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, door.close)
    try:
        yield
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(sign)


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as e:
        raise AddressUnusable(f"{host} is no address of this machine.", hint="Serve on 127.0.0.1.") from e
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
        listening.setblocking(False)
    except OSError as e:
        listening.close()
        raise _unusable(e, host, port) from e
    try:
        yield listening
    finally:
        listening.close()


def _unusable(error: OSError, host: str, port: int) -> Conflict | InvalidInput:
    if error.errno == errno.EADDRINUSE:
        return PortTaken(
            f"Another program has port {port} on {host}.",
            hint="`forge serve --port 0` takes any that is free; `server.port` sets another for good.",
        )
    if error.errno == errno.EACCES:
        return AddressUnusable(f"Port {port} is for the system's own.", hint="Choose one above 1023.")
    return AddressUnusable(f"{host} port {port} cannot be served on: {error.strerror}.", hint="Serve on 127.0.0.1.")
