"""What another process streams is handed on before what was recorded behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from forge.events import BranchChanged, TextStreamed
from forge.store.database import Database
from forge.store.events import Events
from forge.store.listeners import Listener, Listeners, Live, Recorded
from forge.store.relay import SqliteRelay

pytestmark = [pytest.mark.asyncio, pytest.mark.req("X-05")]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(f"sqlite:///{tmp_path}/forge.db")
    yield opened
    opened.close()


class Noting(Listeners):
    def __init__(self) -> None:
        super().__init__()
        self.pushed: list[str] = []

    def push(self, topic: str, item: Recorded | Live) -> None:
        assert isinstance(item, Live)
        self.pushed.append(topic)


@pytest_asyncio.fixture
async def told(database: Database) -> AsyncIterator[Noting]:
    """Of two topics."""
    listeners = Noting()
    one = SqliteRelay(database, listeners)
    for topic in ("one", "two"):
        listeners.add(topic, Listener())
    one.start()
    await asyncio.sleep(0.2)
    yield listeners
    one.close()


def streamed(database: Database, topics: list[str]) -> None:
    """By somebody else."""
    sender = SqliteRelay(database, Listeners())
    sender.send([(topic, TextStreamed("turn", f"to {topic}")) for topic in topics])
    sender.close()


async def test_pieces_come_before_what_was_recorded_after_them(
    told: Noting, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(told, "grown", lambda topic, last, read: grown.append((topic, list(told.pushed))))
    streamed(database, ["one", "two", "unheard"])
    others = Events(database)
    others.append("two", BranchChanged("b", "1", "somebody"))
    others.close()
    deadline = time.monotonic() + 20
    while not grown and time.monotonic() < deadline:
        await asyncio.sleep(0.005)
    ((topic, before),) = grown
    assert topic == "two"
    assert "two" in before
