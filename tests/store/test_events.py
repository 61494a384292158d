"""Events: one growing id per topic, replayed exactly once, pushed at once, in one process and across several."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from sqlalchemy import update

from forge.errors import ForgeError
from forge.events import BranchChanged, Event, TextStreamed, TurnCommitted, to_json
from forge.store import events as events_module
from forge.store import listeners, publisher
from forge.store.database import Database
from forge.store.events import Events
from forge.store.listeners import ROOM, Live, Recorded
from forge.store.schema import events as rows

ROOT = Path(__file__).parents[2]


@pytest.fixture
def events(database: Database) -> Iterator[Events]:
    events = Events(database)
    yield events
    events.close()


def happened(number: int = 0) -> Event:
    return BranchChanged("b", str(number), "somebody")


@contextmanager
def process(url: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Ends well, or the test fails."""
    command = [sys.executable, "-m", "tests.store.event_process", url, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
            assert started.wait(30) == 0
        finally:
            started.kill()


async def take(items: AsyncIterator[Recorded | Live], count: int) -> list[Recorded | Live]:
    async with asyncio.timeout(20):
        return [await anext(items) for _ in range(count)]


async def until_recorded(items: AsyncIterator[Recorded | Live]) -> list[Recorded | Live]:
    got: list[Recorded | Live] = []
    async with asyncio.timeout(20):
        while not got or isinstance(got[-1], Live):
            got.append(await anext(items))
    return got


def listening(items: AsyncIterator[Recorded | Live]) -> asyncio.Task[Recorded | Live]:
    """A follower begins to listen when it is first asked."""

    async def first() -> Recorded | Live:
        return await anext(items)

    return asyncio.create_task(first())


def test_ids_grow_by_one_in_each_topic(events: Events) -> None:
    assert [events.append("a", happened()), events.append("b", happened()), events.append("a", happened())] == [1, 1, 2]
    assert (events.last("a"), events.last("b"), events.last("c")) == (2, 1, 0)


def test_an_event_comes_back_as_it_was(events: Events) -> None:
    event = TurnCommitted("turn", "b", "c0ffee", ("a.py", "ü.py"), "done")
    events.append("t", happened())
    events.append("t", event)
    events.append("t", happened())
    found = events.after("t", 1, limit=1)
    assert [(item.id, item.event) for item in found] == [(2, event)]
    assert abs(found[0].time - time.time()) < 60


@pytest.mark.req("X-04")
def test_the_same_origin_is_recorded_once(events: Events) -> None:
    assert events.append("t", happened(1), origin="run/1") == 1
    assert events.append("t", happened(2), origin="run/1") == 1
    assert [item.event for item in events.after("t")] == [happened(1)]


@pytest.mark.req("X-04", "X-05")
def test_a_reader_never_finds_a_smaller_id_later(database: Database, events: Events) -> None:
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set() or len(seen) < 240:
            seen.extend(item.id for item in events.after("t", seen[-1] if seen else 0))

    other = Events(database)
    with ThreadPoolExecutor(5) as pool:
        reading = pool.submit(read)
        writing = [
            pool.submit(lambda by: [by.append("t", happened()) for _ in range(60)], by) for by in [events, other] * 2
        ]
        for each in writing:
            each.result()
        done.set()
        reading.result()
    other.close()
    assert seen == list(range(1, 241))


@pytest.mark.asyncio
async def test_a_follower_gets_what_was_and_then_what_comes(events: Events) -> None:
    for number in range(3):
        events.append("t", happened(number))
    async with aclosing(events.follow("t", 1)) as items:
        assert [item.id for item in await take(items, 2)] == [2, 3]  # type: ignore[union-attr]
        events.publish("t", happened(3))
        events.publish("other", happened())
        events.publish("t", happened(4))
        assert [item.id for item in await take(items, 2)] == [4, 5]  # type: ignore[union-attr]


@pytest.mark.asyncio
async def test_live_pieces_are_pushed_in_order_and_not_kept(events: Events) -> None:
    events.append("t", happened())
    async with aclosing(events.follow("t")) as items:
        await take(items, 1)
        for number in range(5):
            events.publish("t", TextStreamed("turn", str(number)))
        events.publish("t", TextStreamed("another", "5"))
        events.publish("t", happened())
        got = await until_recorded(items)
    told = [(item.event.turn, item.event.text) for item in got[:-1] if isinstance(item.event, TextStreamed)]
    # Text of one turn that comes close together is told in fewer pieces.
    assert "".join(text for turn, text in told if turn == "turn") == "01234"
    assert told[-1] == ("another", "5")
    assert len(told) == len(got) - 1
    assert events.append("t", TextStreamed("turn", "x")) == 0
    assert len(events.after("t")) == 2


@pytest.mark.asyncio
async def test_an_event_to_keep_waits_for_no_live_piece_and_takes_those_before_it_along(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_SHORTEST", 3600.0)
    monkeypatch.setattr(publisher, "_LONGEST", 3600.0)
    async with aclosing(events.follow("t")) as heard:
        coming = asyncio.ensure_future(anext(heard))
        await asyncio.sleep(0.05)
        events.publish("t", TextStreamed("turn", "words"))
        events.publish("t", happened(1))
        first = await asyncio.wait_for(coming, 10)
        second = await asyncio.wait_for(anext(heard), 10)
    assert (first.event, second.event) == (TextStreamed("turn", "words"), happened(1))


@pytest.mark.asyncio
@pytest.mark.req("X-04")
async def test_a_slow_follower_loses_live_pieces_and_no_event(events: Events) -> None:
    events.append("t", happened(0))
    async with aclosing(events.follow("t")) as items:
        await take(items, 1)
        for _ in range(ROOM + 500):
            events.publish("t", TextStreamed("turn", "x"))
        for number in range(20):
            events.publish("t", happened(number))
        await events.flush()
        got: list[Recorded | Live] = []
        async with asyncio.timeout(20):
            async for item in items:
                got.append(item)
                if isinstance(item, Recorded) and item.id == 21:
                    break
    assert [item.id for item in got if isinstance(item, Recorded)] == list(range(2, 22))
    assert sum(isinstance(item, Live) for item in got) <= ROOM


@pytest.mark.asyncio
@pytest.mark.req("X-04", "X-05")
async def test_a_hundred_reconnects_and_two_writing_processes_give_each_event_once(url: str, events: Events) -> None:
    seen: list[int] = []
    with ExitStack() as others:
        for name in ("one", "two"):
            others.enter_context(process(url, "append", name, "60"))
        for number in range(100):
            if number < 40:
                events.publish("t", happened(number))
            async with aclosing(events.follow("t", seen[-1] if seen else 0)) as items:
                seen += [item.id for item in await take(items, 1) if isinstance(item, Recorded)]
        async with aclosing(events.follow("t", seen[-1])) as items:
            seen += [item.id for item in await take(items, 160 - len(seen)) if isinstance(item, Recorded)]
    assert seen == list(range(1, 161))
    writers = [item.event.branch for item in events.after("t") if isinstance(item.event, BranchChanged)]
    assert {name: writers.count(name) for name in ("one", "two", "b")} == {"one": 60, "two": 60, "b": 40}


@pytest.mark.asyncio
@pytest.mark.req("X-04")
async def test_a_follower_that_was_away_for_many_pages_gets_all_of_them(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "_PAGE", 3)
    for number in range(10):
        events.append("t", happened(number))
    async with aclosing(events.follow("t", 1)) as items:
        got = await take(items, 9)
    assert [item.id for item in got if isinstance(item, Recorded)] == list(range(2, 11))


@pytest.mark.asyncio
@pytest.mark.req("X-04")
async def test_events_that_have_no_room_are_told_though_nothing_follows_them(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "ROOM", 4)
    async with aclosing(events.follow("t")) as items:
        events.append("t", happened())
        await take(items, 1)
        for number in range(10):
            events.append("t", happened(number))
        got = await take(items, 10)
    assert [item.id for item in got if isinstance(item, Recorded)] == list(range(2, 12))


@pytest.mark.asyncio
@pytest.mark.req("X-04", "X-05")
async def test_what_another_process_said_in_between_is_not_passed_over_when_it_is_heard_late(
    database: Database, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events._relay, "start", lambda: None)
    other = Events(database)
    async with aclosing(events.follow("t")) as items:
        events.append("t", happened(1))
        got = await take(items, 1)
        other.append("t", happened(2))
        events.append("t", happened(3))
        got += await take(items, 2)
    other.close()
    assert [item.id for item in got if isinstance(item, Recorded)] == [1, 2, 3]


@pytest.mark.asyncio
@pytest.mark.req("X-05")
async def test_another_process_hears_at_once(url: str, events: Events) -> None:
    with process(url, "follow", "20") as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "ready\n"
        await asyncio.sleep(0.3)
        sent = []
        for number in range(20):
            sent.append(time.time())
            events.append("t", happened(number))
            await asyncio.sleep(0.02)
        came = {int(line.split()[0]): float(line.split()[1]) for line in follower.stdout}
    delays = [came[number + 1] - sent[number] for number in range(20)]
    assert statistics.median(delays) < 0.2


@pytest.mark.asyncio
@pytest.mark.req("X-05")
async def test_live_pieces_reach_another_process(url: str, events: Events) -> None:
    async with aclosing(events.follow("t")) as items:
        first = listening(items)
        await asyncio.sleep(0.2)
        with process(url, "stream", "30"):
            async with asyncio.timeout(20):
                got = [await first]
                while not isinstance(got[-1], Recorded):
                    got.append(await anext(items))
    text = "".join(item.event.text for item in got if isinstance(item.event, TextStreamed))
    assert text == "".join(f"{number} " for number in range(30))


@pytest.mark.asyncio
@pytest.mark.req("X-04", "X-05")
async def test_who_streams_hears_its_own_pieces_once_while_others_follow(database: Database, events: Events) -> None:
    other = Events(database)
    async with aclosing(events.follow("t")) as mine, aclosing(other.follow("t")) as theirs, asyncio.timeout(20):
        first, elsewhere = listening(mine), listening(theirs)
        await asyncio.sleep(0.3)
        events.append("t", TextStreamed("turn", "piece"))
        assert (await elsewhere).event == TextStreamed("turn", "piece")
        await asyncio.sleep(0.1)
        events.append("t", happened())
        got = [await first, *await until_recorded(mine)]
    other.close()
    assert [item.event for item in got] == [TextStreamed("turn", "piece"), happened()]


@pytest.mark.asyncio
@pytest.mark.req("X-04")
async def test_a_publisher_never_notices_that_the_database_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forge.store.publisher._PATIENCE", 0.3)
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    events = Events(database)
    events.publish("t", happened())
    await events.flush()
    database.close()
    events.publish("t", happened())
    with pytest.raises(ForgeError, match="closed"):
        await events.flush()
    events.close()


@pytest.mark.asyncio
@pytest.mark.req("X-04")
async def test_what_was_published_while_the_database_was_away_is_recorded_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forge.store.database._BUSY_MS", 50)
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    events = Events(database)
    with database.transaction():
        for number in range(3):
            events.publish("t", happened(number))
        await asyncio.sleep(0.3)
        assert events.last("t") == 0
    await events.flush()
    assert [item.event for item in events.after("t")] == [happened(number) for number in range(3)]
    events.close()
    database.close()


@dataclass(frozen=True, slots=True)
class GardenWatered(Event):
    """Of a newer Forge."""

    garden: str
    beds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WaterFlowed(Event):
    litres: int
    live: ClassVar[bool] = True


@pytest.mark.asyncio
@pytest.mark.req("X-04", "X-05")
async def test_events_that_only_a_newer_process_knows_are_handed_on_as_they_stand(url: str, events: Events) -> None:
    newer_database = Database.open(url)
    newer = Events(newer_database)
    async with aclosing(events.follow("t")) as items:
        events.append("t", happened(1))
        got = await take(items, 1)
        await asyncio.sleep(0.3)
        newer.append("t", WaterFlowed(5))
        newer.append("t", GardenWatered("north", ("tulips",)))
        got += await until_recorded(items)
        newer.append("t", happened(3))
        got += await until_recorded(items)
    newer.close()
    newer_database.close()
    recorded = [(item.id, to_json(item.event)) for item in got if isinstance(item, Recorded)]
    watered = {"type": "GardenWatered", "garden": "north", "beds": ["tulips"]}
    assert recorded == [(1, to_json(happened(1))), (2, watered), (3, to_json(happened(3)))]
    live = [to_json(item.event) for item in got if isinstance(item, Live)]
    assert live == [{"type": "WaterFlowed", "litres": 5}]
    assert [to_json(item.event) for item in events.after("t", 1)] == [watered, to_json(happened(3))]


@pytest.mark.asyncio
@pytest.mark.req("X-04")
@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('{"type": "BranchChanged", "branch": "b"}', {"type": "BranchChanged", "branch": "b"}),
        (
            '{"type": "TextStreamed", "turn": {"a": 1}, "text": ""}',
            {"type": "TextStreamed", "turn": {"a": 1}, "text": ""},
        ),
        ('{"type": 7}', {"type": "Unreadable"}),
        ("[1]", {"type": "Unreadable"}),
        ("{", {"type": "Unreadable"}),
        ("[" * 100_000, {"type": "Unreadable"}),
    ],
)
async def test_a_row_that_cannot_be_read_stops_nobody_and_keeps_its_id(
    database: Database, events: Events, data: str, told: dict[str, object]
) -> None:
    for number in range(3):
        events.append("t", happened(number))
    with database.transaction() as connection:
        connection.execute(update(rows).where(rows.c.id == 2).values(data=data))
    async with aclosing(events.follow("t")) as items:
        got = await take(items, 3)
        events.append("t", happened(4))
        got += await take(items, 1)
    assert [item.id for item in got if isinstance(item, Recorded)] == [1, 2, 3, 4]
    assert to_json(got[1].event) == told
    assert len({item.event for item in got}) == 4


@pytest.mark.asyncio
@pytest.mark.req("X-04")
async def test_a_topic_that_cannot_be_written_down_fails_where_it_is_published(events: Events) -> None:
    events.publish("t", happened())
    for event in (happened(), TextStreamed("turn", "piece")):
        with pytest.raises(UnicodeEncodeError):
            events.publish("t\udcff", event)
    events.publish("t", happened())
    await events.flush()
    assert events.last("t") == 2


def test_an_event_that_cannot_be_written_down_fails_where_it_is_published(events: Events) -> None:
    with pytest.raises(TypeError):
        events.publish("t", BranchChanged("b", object(), "x"))  # type: ignore[arg-type]
    assert events.append("t", happened()) == 1


@pytest.mark.asyncio
async def test_a_follower_left_behind_by_its_loop_does_not_break_a_publisher(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    events = Events(database)

    async def listen() -> None:
        items = events.follow("t")
        await asyncio.wait_for(anext(items), 5)

    events.append("t", happened())
    await asyncio.to_thread(lambda: asyncio.run(listen()))
    assert events.append("t", happened()) == 2
    events.close()
    database.close()
