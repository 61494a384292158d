"""How many function calls of Forge lie between a request and its effect, for the walks of docs/architecture.md."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

import anyio.to_thread
import httpx
import pytest

import forge
from forge.engine.engine import Engine
from forge.git.refs import ref_store
from tests.api.projects import DUMP, at_rest, made
from tests.support.api_server import House
from tests.support.documents import DOCS

pytestmark = pytest.mark.req("X-03")

SOURCE = str(Path(forge.__file__).parent)
LIMITS = {"save": 18, "message": 26, "action": 23}
"""A third less than in the tree before it was divided into rooms: 28, 40 and 35."""
Stack = tuple[str, ...]
_ABOVE: ContextVar[Stack] = ContextVar("above", default=())
"""The calls above a change of threads."""


def calls(frame: FrameType | None) -> Stack:
    """The calls of Forge that lead to a frame, from the outside in."""
    found: list[str] = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE) and not code.co_name.startswith("<"):
            found.append(f"{Path(code.co_filename).stem}.{code.co_name}")
        frame = frame.f_back
    return (*_ABOVE.get(), *reversed(found))


class Effects:
    """The stack of each effect, as it happens."""

    def __init__(self) -> None:
        self.seen: dict[str, list[Stack]] = {}
        self._lock = threading.Lock()

    def watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            with self._lock:
                self.seen.setdefault(name, []).append((*calls(sys._getframe(1)), name))
            return real(*args, **options)

        return call

    def between(self, start: str, end: str) -> Stack:
        """The shortest way from a function to an effect, both counted."""
        found = [stack[stack.index(start) :] for stack in self.seen.get(end, ()) if start in stack]
        assert found, "\n".join(f"{start} to {end}: {stack}" for stack in self.seen.get(end, ()))
        return min(found, key=len)


@pytest.fixture
def effects(monkeypatch: pytest.MonkeyPatch) -> Effects:
    """Calls on another thread count like any other: the stack goes along."""

    def waited_for(real: Callable[..., Any]) -> Callable[..., Any]:
        async def cross(*args: Any, **options: Any) -> Any:
            before = _ABOVE.set(calls(sys._getframe(1)))
            try:
                return await real(*args, **options)
            finally:
                _ABOVE.reset(before)

        return cross

    def begun(real: Callable[..., Any]) -> Callable[..., Any]:
        def cross(*args: Any, **options: Any) -> Any:
            before = _ABOVE.set(calls(sys._getframe(1)))
            try:
                return real(*args, **options)
            finally:
                _ABOVE.reset(before)

        return cross

    made = Effects()
    monkeypatch.setattr(asyncio, "to_thread", waited_for(asyncio.to_thread))
    monkeypatch.setattr(anyio.to_thread, "run_sync", waited_for(anyio.to_thread.run_sync))
    for name in ("create_task", "ensure_future", "run_coroutine_threadsafe"):
        monkeypatch.setattr(asyncio, name, begun(getattr(asyncio, name)))
    monkeypatch.setattr(ref_store, "swap", made.watched("swap", ref_store.swap))
    for name in ("start_run", "enqueue"):
        monkeypatch.setattr(Engine, name, made.watched("run", getattr(Engine, name)))
    return made


def walk(name: str, *parts: Stack) -> None:
    """Within its limit, and as long as the page says."""
    count = sum(len(part) for part in parts)
    print(name, count, *(" > ".join(part) for part in parts), sep="\n")
    assert count <= LIMITS[name], parts
    page = (DOCS / "architecture.md").read_text("utf-8")
    row = re.search(rf"^\| {name} \|.*\| (\d+) \|$", page, re.M)
    assert row is not None
    assert abs(int(row[1]) - count) <= 1, (row[0], count, parts)


def test_saving_a_file(house: House, client: httpx.Client, effects: Effects) -> None:
    place = f"/api/repositories/{house.repository()}/files/notes.md"
    assert client.put(place, params={"branch": "main"}, content=b"note\n").is_success
    walk("save", effects.between("files.save_file", "swap"))


def test_sending_a_message(house: House, client: httpx.Client, effects: Effects) -> None:
    session = f"/api/repositories/{house.repository()}/session"
    on = {"branch": "ai/walk"}
    assert client.post(f"{session}/messages", params=on, json={"text": "what is here?"}).status_code == 202
    deadline = time.monotonic() + 60
    while client.get(session, params=on).json()["working"] is not None:
        assert time.monotonic() < deadline
    walk("message", effects.between("sessions.send_message", "run"), effects.between("turn_run._turn", "swap"))


def test_acting_on_a_project(client: httpx.Client, effects: Effects) -> None:
    id_ = made(client)["id"]
    assert client.post(f"/api/projects/{id_}/messages", json={"text": DUMP}).status_code == 202
    assert client.post(f"/api/projects/{id_}/actions/distill", json={"confirmed": True}).status_code == 202
    at_rest(client, id_)
    effects.seen.clear()
    assert client.post(f"/api/projects/{id_}/actions/confirm", json={"confirmed": True}).status_code == 202
    at_rest(client, id_)
    to_the_commit = effects.between("projects.perform_action", "swap")
    to_the_run = effects.between("projects.perform_action", "run")
    shared = next(n for n, (a, b) in enumerate(zip(to_the_commit, to_the_run, strict=False)) if a != b)
    walk("action", to_the_commit, to_the_run[shared:])
