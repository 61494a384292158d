"""The relay of this process, seen from here: started once, with the first question whose answer is kept."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import forge
from forge.agents.relay import process
from forge.agents.relay.journal import Page
from forge.agents.relay.process import Asked

_log = logging.getLogger(__name__)
_START_SECONDS = 20.0
_ENVIRONMENT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "RES_OPTIONS", "LOCALDOMAIN")
_ENVIRONMENT_LIKE = ("PYTHON", "SSL_CERT_", "LC_")


@dataclass(slots=True)
class _Relay:
    process: subprocess.Popen[bytes]
    control: socket.socket
    is_ready: bool = False


@dataclass(slots=True)
class _Here:
    """What this process has: at most one relay, or the knowledge that it can have none."""

    lock: threading.Lock
    relay: _Relay | None = None
    impossible: bool = False


_here = _Here(threading.Lock())


@dataclass(frozen=True, slots=True)
class RelayedRequest:
    """One request that the relay makes. Closing it does not end that: the answer may be wanted by another process.

    It ends when its page is gone.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def hear(self) -> tuple[bytes, bytes]:
        """`EOFError` or `ConnectionError` if the relay was killed."""
        return await process.read_frame(self.reader)

    def close(self) -> None:
        self.writer.close()


async def start() -> None:
    """Have one on its way."""
    if _here.relay is None and not _here.impossible:
        await asyncio.to_thread(_on_its_way)


async def ready() -> None:
    """Wait until it can be asked, so that this is not taken for silence of a provider."""
    there = _here.relay
    if not _here.impossible and (there is None or not there.is_ready or there.process.poll() is not None):
        await asyncio.to_thread(_ready)


async def ask(page: Page, question: str, asked: Asked) -> RelayedRequest | None:
    """None if there can be no relay or no page here: then it is to be asked without one."""
    await ready()
    there = _here.relay
    ours = _introduced(there, page, question) if there is not None else None
    if ours is None:
        return None
    try:
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        request = RelayedRequest(reader, writer)
        writer.write(asked.encoded())
        with suppress(ConnectionError):  # it shows when the answer is to be heard
            await writer.drain()
    except asyncio.CancelledError:
        ours.close()
        raise
    return request


def _introduced(there: _Relay, page: Page, question: str) -> socket.socket | None:
    """Hand the page over together with its lock: from its first moment until its end somebody holds it."""
    writing = page.begin(question, locked=True)
    ours, theirs = socket.socketpair()
    try:
        if writing.fd is not None:
            socket.send_fds(there.control, [b"a"], [writing.fd, theirs.fileno()])
            return ours
    except OSError as e:
        _log.debug("the relay was not reached: %s", e)
    finally:
        theirs.close()
        writing.close()
    ours.close()
    return None


def _on_its_way() -> None:
    with _here.lock:
        _started()


def _ready() -> None:
    with _here.lock:
        there = _started()
        if there is None or there.is_ready:
            return
        there.control.settimeout(_START_SECONDS)
        try:
            there.is_ready = there.control.recv(1) == process.READY
        except OSError as e:
            _log.debug("the relay did not begin: %s", e)
        there.control.setblocking(False)
        if not there.is_ready:
            there.control.close()
            there.process.kill()
            there.process.wait()
            _here.relay, _here.impossible = None, True


def _started() -> _Relay | None:
    there = _here.relay
    if _here.impossible or (there is not None and there.process.poll() is None):
        return there
    if there is not None:
        there.control.close()
    _here.relay = None
    ours, theirs = socket.socketpair()
    try:
        started = subprocess.Popen(
            [sys.executable, "-P", process.__file__],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
    except OSError as e:
        _log.debug("no relay could be started: %s", e)
        ours.close()
        _here.impossible = True
        return None
    finally:
        theirs.close()
    _here.relay = _Relay(started, ours)
    return _here.relay


def _environment() -> dict[str, str]:
    """What Python and TLS need, and no keys."""
    kept = {k: v for k, v in os.environ.items() if k in _ENVIRONMENT or k.startswith(_ENVIRONMENT_LIKE)}
    places = [str(Path(forge.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(places)}


def _alone() -> None:
    """A forked process has no part in the relay of the one that it came from."""
    if _here.relay is not None:
        _here.relay.control.close()
    _here.lock, _here.relay = threading.Lock(), None


def _leave() -> None:
    """It notices, and ends when it has nothing more to receive. Nobody waits for it."""
    if _here.relay is not None:
        _here.relay.control.close()
        if _here.relay.process.poll() is None:
            _here.relay.process.returncode = 0


atexit.register(_leave)
os.register_at_fork(after_in_child=_alone)
