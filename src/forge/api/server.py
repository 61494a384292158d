"""One process that serves: the API and the files of the web interface on one thread, the worker on another."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import anyio.to_thread
import uvicorn

from forge.api.access import Gate
from forge.api.application import create
from forge.api.garbage import short_pauses
from forge.app.entries import Entries
from forge.app.identity import server_secret
from forge.app.serving import Serving, announced
from forge.app.users import Keys
from forge.app.workshop import Workshop, open_workshop
from forge.errors import Conflict, InvalidInput
from forge.settings import Settings

STATIC = Path(__file__).parent.parent / "web" / "static"
_THREADS = 32
_REQUESTS = 12
_SWITCH_SECONDS = 0.001
_PATIENCE = 3
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to

Told = Callable[[Serving, str], None]
"""Called when the server answers, with a token for one sign-in."""


class PortTaken(Conflict):
    code = "port_taken"


class AddressUnusable(InvalidInput):
    code = "address_unusable"


async def serve(
    settings: Settings, environ: Mapping[str, str], *, host: str, port: int, names: Sequence[str], told: Told
) -> None:
    """Until a signal ends it: runs that are under way stop where they are, and go on at the next start.

    Call it with the data directory's lock held. `names` are further host names that the server goes by.
    """
    # Requests wait for threads at work many times on their way: each of these waits is to be short.
    sys.setswitchinterval(_SWITCH_SECONDS)
    called = [*names, *settings.server.allowed_hosts, *([] if host in _ANYWHERE else [host])]
    with _bound(host, port) as listening:
        here = listening.getsockname()[1]
        async with open_workshop(settings, environ, serve=True) as shop:
            with announced(settings.data_dir, host, here) as serving:
                await _run(shop, listening, serving, called, told)


async def _run(shop: Workshop, listening: socket.socket, serving: Serving, names: Sequence[str], told: Told) -> None:
    secret = server_secret(shop.settings.data_dir)
    keys = Keys(shop.database, secret)
    gate = Gate(secret, names, keys, port=serving.port, local_key=serving.secret, entries=Entries(shop))
    loop = asyncio.get_running_loop()
    server = _Server(_configured(create(shop, gate, static=STATIC if STATIC.is_dir() else None, loop=loop)))
    with _ending(server), short_pauses(), ThreadPoolExecutor(1, thread_name_prefix="forge-door") as door:
        running = loop.run_in_executor(door, asyncio.run, _answer(server, listening))
        try:
            while not server.started and not running.done():
                await asyncio.sleep(0.005)
            if server.started:
                told(serving, gate.new_token())
            await running
        finally:
            server.should_exit = True
            await asyncio.gather(running, return_exceptions=True)


async def _answer(server: uvicorn.Server, listening: socket.socket) -> None:
    """On a loop of its own: turns that are at work on the other one keep no request waiting."""
    # A request takes a connection of the database's pool, which has room for that many and some work beside.
    anyio.to_thread.current_default_thread_limiter().total_tokens = _REQUESTS
    executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="forge-requests")
    asyncio.get_running_loop().set_default_executor(executor)
    await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Signals belong to the process, which has more to end than this."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _is_worth_telling(record: logging.LogRecord) -> bool:
    # A socket that is refused with an answer is no mistake, though the server believes so.
    return record.getMessage() != "ASGI callable returned without completing handshake."


def _configured(app: object) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_is_worth_telling)
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        lifespan="off",
        log_config=None,
        access_log=False,
        # A header that anybody can send decides nothing here.
        proxy_headers=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=1 << 16,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_PATIENCE,
    )


@contextmanager
def _ending(server: uvicorn.Server) -> Iterator[None]:
    """The first signal lets answers be finished, the second one does not."""
    loop = asyncio.get_running_loop()

    def end() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, end)
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
