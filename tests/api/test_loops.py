"""Two event loops share the server: neither waits for a file lock or the database, and each does its own work."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from forge.api import server
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.git.process import disk
from forge.store.database import Database
from tests.api.projects import DUMP, at_rest, made
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-02")


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where somebody waited for a lock or the database on a loop."""
    found: list[str] = []

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                return real(*args, **options)
            lines = [each for each in traceback.extract_stack() if "/forge/" in each.filename]
            found.append(" > ".join(f"{each.filename.rpartition('/forge/')[2]}:{each.lineno}" for each in lines[-6:-1]))
            return real(*args, **options)

        return call

    monkeypatch.setattr(disk, "locked", watched(disk.locked))
    for name in ("reading", "transaction"):
        monkeypatch.setattr(Database, name, watched(getattr(Database, name)))
    return found


def test_projects_and_turns_keep_no_loop_waiting(house: House, client: httpx.Client, waits: list[str]) -> None:
    id_ = made(client)["id"]
    assert client.post(f"/api/projects/{id_}/messages", json={"text": DUMP}).status_code == 202
    for action in ("distill", "confirm", "confirm"):
        assert client.post(f"/api/projects/{id_}/actions/{action}", json={"confirmed": True}).status_code == 202
        label = at_rest(client, id_)["label"]
    assert label.startswith("Outline ready")
    repository = f"/api/repositories/{house.repository()}"
    sent = client.post(f"{repository}/session/messages", params={"branch": "ai/x"}, json={"text": "what is here?"})
    assert sent.status_code == 202, sent.text
    deadline = time.monotonic() + 30
    while client.get(f"{repository}/session", params={"branch": "ai/x"}).json()["working"] is not None:
        assert time.monotonic() < deadline
    assert client.post(f"{repository}/session/cancel", params={"branch": "ai/x"}).status_code == 200
    assert waits == []


def test_a_server_ends_when_what_it_was_about_is_done() -> None:
    """An answer is broken off after a while; its thread is not, and has something to write down."""
    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(2)
        done.set()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await run_in_threadpool(work)
        await PlainTextResponse("done")(scope, receive, send)

    async def served() -> None:
        config = uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=0)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            async with server.answering(uvicorn.Server(config), listening):
                with socket.create_connection(listening.getsockname()) as asking:
                    asking.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    await asyncio.to_thread(begun.wait, 20)

    asyncio.run(served())
    assert done.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="an option of Linux")
def test_who_takes_nothing_any_more_is_let_go() -> None:
    with server._bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        listening.settimeout(10)
        taken, _ = listening.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000


def test_a_use_case_that_wakes_runs_is_done_on_their_loop(house: House) -> None:
    done: list[asyncio.AbstractEventLoop] = []

    @on_work_loop
    async def use_case(shop: Workshop, word: str) -> str:
        del shop
        done.append(asyncio.get_running_loop())
        return word

    async def here() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert asyncio.run(use_case(house.shop, "yes")) == "yes"
    assert house.call(use_case(house.shop, "yes")) == "yes"
    assert done == [house.call(here())] * 2


def test_no_route_knows_the_loop_of_the_runs() -> None:
    routes = Path(server.__file__).parent / "routes"
    assert [file.name for file in routes.glob("*.py") if ".engine" in file.read_text()] == []
