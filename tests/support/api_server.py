"""A server in a thread of the test's own process, on loopback, with the person at this machine and with users."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import uvicorn
from fastapi import FastAPI

from forge.api.access.gate import Gate
from forge.api.application import create
from forge.api.server import answering, configured
from forge.app.access.identity import LOCAL, one_time_token, server_secret
from forge.app.access.signin_audit import Entries
from forge.app.access.users import Keys, Rates, add_user, new_key
from forge.app.process.workshop import Workshop, open_workshop
from forge.app.repositories.catalog import add_repository
from forge.settings import load

T = TypeVar("T")
LOCAL_KEY = "a-secret-of-this-test-alone"


@dataclass
class House:
    """`call` runs something on the server's loop; `client` speaks to it as a program of the person at this machine."""

    place: Path
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    shop: Workshop = field(init=False)
    gate: Gate = field(init=False)
    app: FastAPI = field(init=False)
    port: int = 0
    made: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {LOCAL_KEY}"}

    def call(self, work: Awaitable[T]) -> T:
        async def done() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(done(), self.loop).result(30)

    @contextmanager
    def client(self, key: str = LOCAL_KEY, **options: Any) -> Iterator[httpx.Client]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, **options) as client:
            yield client

    def token(self) -> str:
        """For one sign-in of the person at this machine."""
        return one_time_token(server_secret(self.shop.settings.data_dir))

    def user(self, name: str, scopes: tuple[str, ...] = ("read", "write", "run")) -> str:
        """A key of a new user."""
        add_user(self.shop, LOCAL, name)
        secret = server_secret(self.shop.settings.data_dir)
        return new_key(self.shop, LOCAL, secret, name, scopes=scopes).text

    def repository(self, files: dict[str, str] | None = None) -> str:
        """The id of a new one with a commit on main."""
        self.made += 1
        path = self.place / f"repository-{self.made}"
        _git(self.place, "init", "--quiet", "--initial-branch=main", str(path))
        for name, text in (files or {"README.md": "# Garden\n", "beds/north.md": "tulips\n"}).items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
        _git(path, "add", "--all")
        _git(path, "commit", "--quiet", "--message", "first")
        return add_repository(self.shop, LOCAL, path).id


def _git(directory: Path, *words: str) -> None:
    who = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *words], cwd=directory, check=True, capture_output=True)


@contextmanager
def opened(
    place: Path, *, environ: dict[str, str] | None = None, static: Path | None = None, config: str = ""
) -> Iterator[House]:
    (place / "config.yaml").write_text(config)
    house = House(place)
    ready = threading.Event()
    thread = threading.Thread(target=_live, args=(house, environ or {}, static, ready), name="house")
    thread.start()
    try:
        assert ready.wait(60), "the server did not start"
        yield house
    finally:
        house.loop.call_soon_threadsafe(_stop, house)
        thread.join(30)


_SERVERS: dict[int, uvicorn.Server] = {}


def _stop(house: House) -> None:
    _SERVERS[id(house)].should_exit = True


def _live(house: House, environ: dict[str, str], static: Path | None, ready: threading.Event) -> None:
    asyncio.set_event_loop(house.loop)
    try:
        house.loop.run_until_complete(_serve(house, environ, static, ready.set))
        house.loop.run_until_complete(house.loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        house.loop.close()
        ready.set()


async def _serve(house: House, environ: dict[str, str], static: Path | None, ready: Callable[[], None]) -> None:
    around = {
        "PATH": os.environ["PATH"],
        "HOME": str(house.place),
        "FORGE_DATA_DIR": str(house.place / "data"),
        "FORGE_CONFIG": str(house.place / "config.yaml"),
        "FORGE_WORKSPACE": str(house.place / "workspace"),
        **environ,
    }
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    house.port = listening.getsockname()[1]
    async with open_workshop(load(around), around, serve=True) as shop:
        house.shop = shop
        secret = server_secret(shop.settings.data_dir)
        rates = Rates(per_second=100_000, burst=100_000)
        keys = Keys(shop.database, secret)
        entries = Entries(shop)
        house.gate = Gate(secret, (), keys, port=house.port, rates=rates, local_key=LOCAL_KEY, entries=entries)
        house.app = create(shop, house.gate, static=static)
        server = uvicorn.Server(configured(house.app, shop.settings.server))
        _SERVERS[id(house)] = server
        async with answering(server, listening) as running:
            ready()
            await running
