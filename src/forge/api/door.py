"""The door of a server: a process of its own that answers, so that nobody who asks waits for a turn at work.

It is forked from the server and lives no longer than that one; what is begun at the door, the server runs.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import anyio.to_thread
import uvicorn
import uvloop

from forge.api.access import Gate
from forge.api.application import create
from forge.api.garbage import short_pauses
from forge.app.entries import Entries
from forge.app.handing import Always
from forge.app.identity import server_secret
from forge.app.serving import Serving
from forge.app.users import Keys
from forge.app.workshop import open_workshop
from forge.errors import Upstream
from forge.settings import Settings

STATIC = Path(__file__).parent.parent / "web" / "static"
_REQUESTS = 12
_SWITCH_SECONDS = 0.001
_PATIENCE = 3
_DIE_WITH_PARENT = 1
"""Of Linux's prctl."""
_WORD = b"."


class DoorClosed(Upstream):
    code = "door_closed"


class Door:
    """As the server sees it."""

    def __init__(self, pid: int, word: socket.socket) -> None:
        self._pid = pid
        self._word = word
        self._closing = False
        self._reaped = False
        self._reaping = threading.Lock()

    async def open(self) -> bool:
        """From here on it answers, for the server can run what is begun there. False: it was closed before it could."""
        loop = asyncio.get_running_loop()
        with suppress(BrokenPipeError):  # gone already, which the next line sees
            await loop.sock_sendall(self._word, _WORD)
        return await self._heard() == _WORD

    async def until_closed(self) -> None:
        await self._heard()

    async def _heard(self) -> bytes:
        try:
            return await asyncio.get_running_loop().sock_recv(self._word, 1)
        except ConnectionResetError:  # it ended without reading what it was told
            return b""

    def close(self) -> None:
        """The first time answers are finished, the second time they are not."""
        self._closing = True
        self._signal(signal.SIGTERM)

    async def gone(self) -> None:
        """Until it is. One that nobody closed is missed."""
        await asyncio.to_thread(self._reap)
        if not self._closing:
            raise DoorClosed("The process that answers has ended by itself.", hint="Start the server again.")

    def end(self) -> None:
        """At once, if it is still there; with it goes its hold on what it has of the server."""
        self._signal(signal.SIGKILL)
        self._reap()
        self._word.close()

    def _signal(self, sign: signal.Signals) -> None:
        if not self._reaped:
            with suppress(ProcessLookupError):  # gone at this moment
                os.kill(self._pid, sign)

    def _reap(self) -> None:
        with self._reaping:
            if not self._reaped:
                os.waitpid(self._pid, 0)
                self._reaped = True


@dataclass(frozen=True, slots=True)
class Opening:
    """What a door is made with: the socket to answer at, and the names that the server goes by."""

    settings: Settings
    environ: Mapping[str, str]
    serving: Serving
    listening: socket.socket
    names: Sequence[str]


def made(opening: Opening) -> Door:
    """Fork it. Call it while the process has one thread, with everything loaded that both need."""
    here, there = socket.socketpair()
    with _uninterrupted():
        pid = os.fork()
        if not pid:
            # Ctrl-C reaches both; the server says when this one is to end.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not pid:
        here.close()
        _end_with(opening.serving.pid)
        _live(opening, there)
    there.close()
    here.setblocking(False)
    return Door(pid, here)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """What an interrupt raises inside of a fork is swallowed, and the locks held for it stay held."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _live(opening: Opening, word: socket.socket) -> NoReturn:
    """To the end of this process, which is the server's double and must not go on with what that one was about."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    code = 1
    try:
        uvloop.run(_answer(opening, word))
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, it is told here or nowhere
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _answer(opening: Opening, word: socket.socket) -> None:
    settings, serving = opening.settings, opening.serving
    # A request takes a connection of the database's pool, which has room for that many and some work beside.
    anyio.to_thread.current_default_thread_limiter().total_tokens = _REQUESTS
    async with open_workshop(settings, opening.environ, taker=Always(serving.pid)) as shop:
        secret = server_secret(settings.data_dir)
        keys = Keys(shop.database, secret)
        names, local = opening.names, serving.secret
        gate = Gate(secret, names, keys, port=serving.port, local_key=local, entries=Entries(shop))
        app = create(shop, gate, static=STATIC if STATIC.is_dir() else None, pid=serving.pid)
        server = _Server(_configured(app))
        with _ending(server), short_pauses():
            if await asyncio.to_thread(word.recv, 1) != _WORD:
                return
            running = asyncio.create_task(server.serve(sockets=[opening.listening]))
            while not server.started and not running.done():
                await asyncio.sleep(0.005)
            word.sendall(_WORD)
            threading.Thread(target=_watch, args=(word,), name="forge-parent", daemon=True).start()
            await running


def _watch(word: socket.socket) -> None:
    """A server that is gone takes the door along, also where the system does not do that."""
    word.recv(1)
    os._exit(1)


class _Server(uvicorn.Server):
    """Signals belong to the process, which has more to end than this."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def _ending(server: uvicorn.Server) -> Iterator[None]:
    """The first signal lets answers be finished, the second one does not."""

    def end() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    try:
        yield
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)


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
