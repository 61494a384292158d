"""One process that serves. Two event loops share it: one answers (API, web interface, live events), one works.

A computation on the loop of runs is interrupted for requests; on one loop, everybody would wait until it is done.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread
import uvicorn
import uvloop

from forge.api.access.connections import ConnectionLimits, Connections
from forge.api.access.gate import Gate
from forge.api.access.request_limits import GuardedHttp, GuardedSocket
from forge.api.application import create
from forge.app.access.identity import one_time_token, server_secret
from forge.app.access.signin_audit import Entries
from forge.app.access.users import Keys
from forge.app.process.garbage_collection import short_pauses
from forge.app.process.malloc import share_heaps
from forge.app.process.server_lock import Serving, announced
from forge.app.process.workshop import Workshop, open_workshop
from forge.errors import Conflict, InvalidInput
from forge.settings import Settings
from forge.settings.pipeline import Server as ServerSettings

STATIC = Path(__file__).parent.parent / "web" / "static"
_REQUESTS = 12
_SWITCH_SECONDS = 0.0005
"""A thread that wants to continue waits so long for one that computes."""
_PATIENCE = 3
_KEEP_ALIVE = 15
"""Seconds that an idle connection stays: longer than clients keep theirs, or both end one while a request is sent."""
_LONGEST_END = 30
_UNREAD_MILLISECONDS = 60_000
"""A client that takes nothing for so long is gone, though its connection stands."""
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
    """Until a signal ends it: runs that are under way stop where they are, and continue at the next start.

    Call it with the data directory's lock held. `names` are further host names that the server goes by.
    """
    share_heaps(environ)
    sys.setswitchinterval(_SWITCH_SECONDS)
    called = [*names, *settings.server.allowed_hosts, *([] if host in _ANYWHERE else [host])]
    with _bound(host, port) as listening:
        here = Serving(os.getpid(), host, listening.getsockname()[1], secrets.token_urlsafe(32))
        asyncio.run(_serve(_Place(settings, environ, here, listening, called), told))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a server is: on whose data, at which socket, and by what names."""

    settings: Settings
    environ: Mapping[str, str]
    here: Serving
    listening: socket.socket
    names: Sequence[str]


async def _serve(place: _Place, told: Told) -> None:
    settings, here = place.settings, place.here
    async with open_workshop(settings, place.environ, serve=True) as shop:
        server = _Server(configured(_application(shop, here, place.names), settings.server))
        with _ending(server), short_pauses():
            # What is begun by a request is run here, so requests are the first to end.
            async with answering(server, place.listening) as running:
                if server.started:
                    with announced(settings.data_dir, here):
                        telling = asyncio.create_task(told(here, one_time_token(server_secret(settings.data_dir))))
                        await running
                        await telling


@asynccontextmanager
async def answering(server: uvicorn.Server, listening: socket.socket) -> AsyncIterator[Awaitable[None]]:
    """A thread with the other loop, until the server is ended; or right away, if what is done meanwhile fails."""
    with ThreadPoolExecutor(1, "forge-requests") as thread:
        running = asyncio.get_running_loop().run_in_executor(thread, _answer, server, listening)
        try:
            while not server.started and not running.done():
                await asyncio.sleep(0.005)
            yield running
        finally:
            server.should_exit = True
            await running


def _answer(server: uvicorn.Server, listening: socket.socket) -> None:
    loop = uvloop.new_event_loop()

    async def serve() -> None:
        # A request takes a connection of the database's pool, which has room for that many and some work beside.
        anyio.to_thread.current_default_thread_limiter().total_tokens = _REQUESTS
        await server.serve(sockets=[listening])

    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())
    finally:
        # An answer that was broken off leaves its thread at work, which has something to write down still.
        for thread in threading.enumerate():
            if getattr(thread, "loop", None) is loop:
                thread.join(_LONGEST_END)


def _application(shop: Workshop, here: Serving, names: Sequence[str]) -> object:
    secret = server_secret(shop.settings.data_dir)
    keys = Keys(shop.database, secret)
    gate = Gate(secret, names, keys, port=here.port, local_key=here.secret, entries=Entries(shop))
    return create(shop, gate, static=STATIC if STATIC.is_dir() else None)


class _Server(uvicorn.Server):
    """Signals belong to the process, which has more to end than this."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


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


_OF_NO_ACCOUNT = {
    # A socket that is refused with an answer is no mistake, though the server believes so.
    "ASGI callable returned without completing handshake.",
    # Anybody can send such, and as many as they like.
    "Invalid HTTP request received.",
}


def _is_worth_telling(record: logging.LogRecord) -> bool:
    # An answer that was broken off because the server ends is no mistake.
    ended = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not ended and record.getMessage() not in _OF_NO_ACCOUNT


def configured(app: object, settings: ServerSettings) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_is_worth_telling)
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=partial(GuardedHttp, connections=Connections(_limits(settings))),  # type: ignore[arg-type]
        lifespan="off",
        log_config=None,
        access_log=False,
        # A header that anybody can send decides nothing here.
        proxy_headers=False,
        server_header=False,
        ws=GuardedSocket,
        ws_max_size=1 << 16,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=_KEEP_ALIVE,
    )


def _limits(settings: ServerSettings) -> ConnectionLimits:
    return ConnectionLimits(
        head_bytes=settings.max_header_kb << 10,
        headers=settings.max_headers,
        seconds=settings.header_seconds,
        connections=settings.max_connections,
        per_address=settings.max_connections_per_address,
    )


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as e:  # the second for what can be no name of a host
        raise AddressUnusable(f"{host} is no address of this machine.", hint="Serve on 127.0.0.1.") from e
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "linux":
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MILLISECONDS)
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
