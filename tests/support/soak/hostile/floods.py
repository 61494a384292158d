"""Floods from outside, without a key: slow connections, half requests, endless headers.

Meanwhile somebody who is signed in asks for something, over a new connection each time.
"""

from __future__ import annotations

import contextlib
import random
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.soak.reconnects import ServeProcess

_SLOW = 600
_HEADER = 300 << 20
_GROWN_MB = 40.0
_LATE_MS = 1000.0
_ASKED = 40
_DRIP = 0.002
"""Seconds between two bytes. Whoever asks meanwhile shares the processors with whoever floods."""


@dataclass(frozen=True, slots=True)
class Flooded:
    """What a flood cost: memory of the server in megabytes, and the time of an ordinary request in milliseconds."""

    kind: str
    sent_mb: float
    grown_mb: float
    median_ms: float
    slowest_ms: float


def run(folder: Path, rounds: int | None, seed: int) -> list[Flooded]:
    return flooded(folder, slow=rounds or _SLOW, header=_HEADER, seed=seed)


def flooded(folder: Path, *, slow: int, header: int, seed: int) -> list[Flooded]:
    """Each kind of flood against a server of its own process."""
    server = ServeProcess(folder)
    server.start()
    try:
        target = _Target(server)
        target.ask(_ASKED)  # what is loaded at the first request is no cost of a flood
        chance = random.Random(seed)
        floods: dict[str, Callable[[], contextlib.AbstractContextManager[_Sent]]] = {
            "quiet": lambda: contextlib.nullcontext(_Sent()),
            "slow headers": lambda: _slow(target.port, slow, b"GET / HTTP/1.1\r\nX-Slow: ", chance),
            "slow sign-ins": lambda: _slow(target.port, slow, _sign_in(target.port), chance),
            "silence": lambda: _slow(target.port, slow, b"", chance),
            "endless header": lambda: _endless(target.port, header),
        }
        found = [_measured(kind, flood, target) for kind, flood in floods.items()]
    finally:
        server.kill()
    for each in found:
        assert each.grown_mb <= _GROWN_MB, f"{each.kind}: the server grew by {each.grown_mb:.0f} MB"
        assert each.slowest_ms <= _LATE_MS + found[0].slowest_ms, f"{each.kind}: {each.slowest_ms:.0f} ms for a request"
    return found


@dataclass(slots=True)
class _Sent:
    bytes: int = 0


class _Target:
    def __init__(self, server: ServeProcess) -> None:
        self._server = server
        self.port = int(server.url.rpartition(":")[2])

    def ask(self, times: int) -> list[float]:
        """Milliseconds of ordinary requests."""
        headers = {"Authorization": f"Bearer {self._server.secret}"}
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            with httpx.Client(base_url=self._server.url, headers=headers, trust_env=False, timeout=30) as client:
                client.get("/api/repositories").raise_for_status()
            taken.append((time.perf_counter() - began) * 1000)
        return taken

    def megabytes(self) -> float:
        lines = Path(f"/proc/{self._server.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmRSS:"))) / 1024


def _measured(kind: str, flood: Callable[[], contextlib.AbstractContextManager[_Sent]], target: _Target) -> Flooded:
    before = target.megabytes()
    with flood() as sent:
        taken = target.ask(_ASKED)
        grown = target.megabytes() - before
    return Flooded(kind, sent.bytes / (1 << 20), grown, statistics.median(taken), max(taken))


@contextlib.contextmanager
def _slow(port: int, number: int, begun: bytes, chance: random.Random) -> Iterator[_Sent]:
    """That many connections at once, each of which sends a byte now and then, and comes again when it is closed."""
    enough, sent = threading.Event(), _Sent()
    held: list[socket.socket | None] = [None] * number

    def drip() -> None:
        while not enough.is_set():
            time.sleep(_DRIP)
            place = chance.randrange(number)
            with contextlib.suppress(OSError):
                one = held[place]
                if one is None:
                    one = held[place] = socket.create_connection(("127.0.0.1", port), timeout=5)
                    one.sendall(begun)
                sent.bytes += one.send(b"a")
                continue
            if (lost := held[place]) is not None:
                held[place] = None
                lost.close()

    for place in range(number):
        held[place] = one = socket.create_connection(("127.0.0.1", port), timeout=5)
        with contextlib.suppress(OSError):
            one.sendall(begun)
    thread = threading.Thread(target=drip, name="drip")
    thread.start()
    try:
        yield sent
    finally:
        enough.set()
        thread.join(30)
        for left in held:
            if left is not None:
                left.close()


@contextlib.contextmanager
def _endless(port: int, size: int) -> Iterator[_Sent]:
    """One header of that size, and again from its beginning whenever the server has had enough."""
    enough, sent = threading.Event(), _Sent()

    def push() -> None:
        block = b"a" * (1 << 20)
        while not enough.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as one:
                one.sendall(b"GET / HTTP/1.1\r\nX-Endless: ")
                of_this = 0
                while of_this < size and not enough.is_set():
                    one.sendall(block)
                    of_this += len(block)
                    sent.bytes += len(block)
            time.sleep(_DRIP)

    thread = threading.Thread(target=push, name="push")
    thread.start()
    try:
        time.sleep(0.5)
        yield sent
    finally:
        enough.set()
        thread.join(30)


def _sign_in(port: int) -> bytes:
    return f"POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 60000\r\n\r\n".encode()
