"""What another process streams is handed on topic by topic, and never after what was recorded behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from forge.events import BranchChanged, TextStreamed
from forge.store import relay
from forge.store.database import Database
from forge.store.events import Events
from forge.store.listeners import Listener, Listeners, Live, Recorded
from forge.store.relay import SqliteRelay

pytestmark = [pytest.mark.asyncio, pytest.mark.req("X-05")]

Pushed = list[tuple[float, str, Recorded | Live]]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(f"sqlite:///{tmp_path}/forge.db")
    yield opened
    opened.close()


class Noting(Listeners):
    def __init__(self) -> None:
        super().__init__()
        self.pushed: Pushed = []

    def push(self, topic: str, item: Recorded | Live) -> None:
        self.pushed.append((time.monotonic(), topic, item))


@pytest_asyncio.fixture
async def told(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Noting]:
    """Of forty topics, by a relay that pauses long enough to be seen."""
    monkeypatch.setattr(relay, "_APART", 0.02)
    listeners = Noting()
    one = SqliteRelay(database, listeners)
    for number in range(40):
        listeners.add(f"t{number}", Listener())
    one.start()
    await asyncio.sleep(0.2)
    yield listeners
    one.close()


def streamed(database: Database, topics: list[str]) -> None:
    """By somebody else."""
    sender = SqliteRelay(database, Listeners())
    sender.send([(topic, TextStreamed("turn", f"to {topic}")) for topic in topics])
    sender.close()


async def test_pieces_of_many_topics_do_not_come_all_at_once(told: Noting, database: Database) -> None:
    streamed(database, [f"t{number}" for number in range(40)])
    deadline = time.monotonic() + 20
    while len(told.pushed) < 40 and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert sorted(topic for _, topic, _ in told.pushed) == sorted(f"t{number}" for number in range(40))
    times = [at for at, _, _ in told.pushed]
    assert times[-1] - times[0] > 0.2


async def test_what_is_recorded_overtakes_other_topics_but_no_piece_of_its_own(
    told: Noting, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown: list[tuple[str, int]] = []
    monkeypatch.setattr(told, "grown", lambda topic, last, read: grown.append((topic, len(told.pushed))))
    streamed(database, [f"t{number}" for number in range(40)])
    others = Events(database)
    others.append("t39", BranchChanged("b", "1", "somebody"))
    others.close()
    deadline = time.monotonic() + 20
    while not any(topic == "t39" for topic, _ in grown) and time.monotonic() < deadline:
        await asyncio.sleep(0.005)
    ((_, before),) = [each for each in grown if each[0] == "t39"]
    assert "t39" in [topic for _, topic, _ in told.pushed[:before]]
    assert before < 40
