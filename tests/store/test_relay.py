"""What another process streams is handed on before what was recorded behind it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forge.events import BranchChanged, TextStreamed
from forge.store.database import Database
from forge.store.events import Events
from forge.store.listeners import Listener, Listeners, Live, Recorded
from forge.store.relay import PostgresRelay, SqliteRelay

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


async def test_a_file_that_cannot_be_opened_for_a_while_is_tried_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failed = sqlite3.connect, []

    def connect(*place: Any, **options: Any) -> sqlite3.Connection:
        if len(failed) < 2:
            failed.append(place)
            raise sqlite3.OperationalError("unable to open database file")
        return real(*place, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    listeners = Noting()
    listeners.add("one", Listener())
    relay = SqliteRelay(database, listeners)
    relay.start()
    deadline = time.monotonic() + 20
    while not listeners.pushed and time.monotonic() < deadline:
        streamed(database, ["one"])
        await asyncio.sleep(0.05)
    relay.close()
    assert listeners.pushed[0] == "one"
    assert len(failed) == 2


async def test_a_thread_that_could_not_be_begun_is_begun_by_the_next_follower(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    relay = SqliteRelay(database, Noting())
    with monkeypatch.context() as away:
        away.setattr(threading.Thread, "start", full)
        with pytest.raises(RuntimeError):
            relay.start()
    relay.start()
    assert relay._thread is not None
    assert relay._thread.is_alive()
    relay.close()


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "no json",
        "[1]",
        "{}",
        '{"topic": 7, "last": 1}',
        '{"topic": "one", "last": "x"}',
        '{"topic": "one", "live": 1}',
    ],
)
async def test_a_notification_that_means_nothing_here_is_passed_over(database: Database, payload: str) -> None:
    listeners = Noting()
    relay = PostgresRelay(database, listeners)
    relay._received(payload)
    relay._received('{"topic": "one", "live": {"type": "Later"}, "process": "newer"}')
    assert listeners.pushed == ["one"]
