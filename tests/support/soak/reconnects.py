"""Clients of the live events whose connections are cut again and again, while the server is killed and started anew.

Whatever happens, each of them ends with the same events as the record: every one of them, once, in order.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import ClientConnection, connect

from tests.support.repositories import repository

Json = dict[str, Any]
_BRANCH = "ai/work"
_AWAY = (OSError, EOFError, TimeoutError, WebSocketException, InvalidHandshake)
_AT_LAST = 120.0
_FORGE = "import sys; from forge.cli.main import main; sys.exit(main())"


class Server(Protocol):
    """One that can be killed. Its address may be another after each start."""

    def start(self) -> None: ...
    def kill(self) -> None: ...
    @property
    def url(self) -> str: ...
    @property
    def secret(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Reconnected:
    clients: int
    cuts: int
    """Connections that were ended on purpose, by all clients together."""
    found_gone: int
    """Connections that broke, or could not be made, because the server was killed."""
    kills: int
    events: int
    seconds: float


class Client(threading.Thread):
    """Comes back whenever its connection ends, with the id that it saw last; cuts it by itself `cuts` times."""

    def __init__(self, server: Server, topic: str, cuts: int, *, seed: int) -> None:
        super().__init__(daemon=True, name=f"client-{seed}")
        self._server = server
        self._topic = topic
        self._chance = random.Random(seed)
        self._left = cuts
        self.seen: list[tuple[int, Json]] = []
        self.cuts = 0
        self.gone = 0
        self.enough = threading.Event()

    @property
    def last(self) -> int:
        return self.seen[-1][0] if self.seen else 0

    @property
    def is_done_cutting(self) -> bool:
        return self._left == 0

    def run(self) -> None:
        while not self.enough.is_set():
            try:
                self._hear()
            except _AWAY:
                self.gone += 1
                time.sleep(0.05)

    def _hear(self) -> None:
        address = f"{self._server.url.replace('http', 'ws', 1)}/api/stream"
        headers = {"Authorization": f"Bearer {self._server.secret}"}
        with connect(address, additional_headers=headers, proxy=None, open_timeout=5, close_timeout=0.5) as stream:
            stream.send(json.dumps({"subscribe": self._topic, "after": self.last}))
            until = self._chance.randrange(1, 8)
            while not self.enough.is_set():
                with contextlib.suppress(TimeoutError):
                    self._take(json.loads(stream.recv(timeout=0.5)))
                    until -= 1
                if until <= 0 and self._left:
                    self._left -= 1
                    self.cuts += 1
                    self._cut(stream)
                    return

    def _take(self, item: Json) -> None:
        if "id" in item:
            self.seen.append((item["id"], item["event"]))

    def _cut(self, stream: ClientConnection) -> None:
        """Half of the time without a word, as a network does."""
        if self._chance.random() < 0.5:
            with contextlib.suppress(OSError):
                stream.socket.shutdown(socket.SHUT_RDWR)


def reconnected(server: Server, folder: Path, *, clients: int, cuts: int, kills: int, seed: int) -> Reconnected:
    """`cuts` are those of each client. The server is killed `kills` times, spread over them."""
    began = time.monotonic()
    place = repository(folder, _BRANCH)
    server.start()
    with _client(server) as client:
        id_ = client.post("/api/repositories", json={"path": str(place)}).json()["id"]
    topic = f"branch:{id_}:{_BRANCH}"
    listeners = [Client(server, topic, cuts, seed=seed + number) for number in range(clients)]
    for listener in listeners:
        listener.start()
    over = threading.Event()
    writer = threading.Thread(target=_write, args=(server, id_, over), daemon=True)
    writer.start()
    try:
        for number in range(kills):
            _until(lambda share=number + 1: _share(listeners, cuts) >= share / (kills + 1), "cuts before a kill")
            server.kill()
            server.start()
        _until(lambda: all(each.is_done_cutting for each in listeners), "all cuts")
        over.set()
        writer.join(_AT_LAST)
        recorded = _recorded(server, topic)
        _until(lambda: all(each.last >= len(recorded) for each in listeners), "the last event")
    finally:
        over.set()
        for listener in listeners:
            listener.enough.set()
        for listener in listeners:
            listener.join(_AT_LAST)
    _assert_same(recorded, listeners, seed)
    cut, gone = sum(each.cuts for each in listeners), sum(each.gone for each in listeners)
    return Reconnected(clients, cut, gone, kills, len(recorded), round(time.monotonic() - began, 1))


def _assert_same(recorded: list[tuple[int, Json]], listeners: list[Client], seed: int) -> None:
    assert [id_ for id_, _ in recorded] == list(range(1, len(recorded) + 1)), f"seed {seed}: ids of the record"
    for listener in listeners:
        # One that came while the last ones were compared is not wrong.
        assert listener.seen[: len(recorded)] == recorded, f"seed {seed}: {listener.name} heard something else"


def _write(server: Server, repository_id: str, over: threading.Event) -> None:
    """Saves a file over and over: each is an event. While the server is away, it tries again."""
    number = 0
    while not over.is_set():
        try:
            with _client(server) as client:
                while not over.is_set():
                    number += 1
                    address = f"/api/repositories/{repository_id}/files/note.txt"
                    client.put(address, params={"branch": _BRANCH}, content=f"{number}\n".encode()).raise_for_status()
                    over.wait(0.02)
        except (httpx.HTTPError, OSError, ValueError):
            over.wait(0.05)


def _recorded(server: Server, topic: str) -> list[tuple[int, Json]]:
    """When nothing is added any more."""
    found: list[tuple[int, Json]] = []
    with _client(server) as client:
        while True:
            asked = {"topic": topic, "after": len(found), "limit": 1000}
            items = client.get("/api/events", params=asked).raise_for_status().json()["items"]
            if not items:
                return found
            found += [(each["id"], each["event"]) for each in items]
            time.sleep(0.1)


@contextlib.contextmanager
def _client(server: Server) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {server.secret}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=30, trust_env=False) as client:
        yield client


def _share(listeners: list[Client], cuts: int) -> float:
    return sum(each.cuts for each in listeners) / (len(listeners) * cuts)


def _until(is_so: Any, what: str) -> None:
    deadline = time.monotonic() + _AT_LAST
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


class ServeProcess:
    """`forge serve` as people start it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        (folder / "config.yaml").write_text("")

    def start(self) -> None:
        around = {
            **os.environ,
            "FORGE_DATA_DIR": str(self._folder / "data"),
            "FORGE_CONFIG": str(self._folder / "config.yaml"),
            "FORGE_WORKSPACE": str(self._folder / "workspace"),
        }
        words = [sys.executable, "-c", _FORGE, "serve", "--port", "0", "--json"]
        with (self._folder / "errors.txt").open("a") as errors:
            self._process = subprocess.Popen(
                words, env=around, cwd=self._folder, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, (self._folder / "errors.txt").read_text()

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._told['port']}"

    @property
    def secret(self) -> str:
        return str(self._told["secret"])

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def _told(self) -> Json:
        told: Json = json.loads((self._folder / "data" / "server.json").read_text())
        return told


def cut_and_killed(folder: Path, *, clients: int, cuts: int, kills: int, seed: int) -> Reconnected:
    server = ServeProcess(folder)
    try:
        return reconnected(server, folder, clients=clients, cuts=cuts, kills=kills, seed=seed)
    finally:
        with contextlib.suppress(AssertionError, ProcessLookupError):
            server.kill()
