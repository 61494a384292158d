"""The sender: delivered once, tried once more, never in the way, and after a restart."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import update

from forge.notices.channels import CHANNELS
from forge.notices.errors import NotDelivered
from forge.notices.sender import Sender
from forge.plugins.roles import Channel, Notice
from forge.store.database import Database
from forge.store.outbox import LEASE_SECONDS, Outbox
from forge.store.schema import outbox as rows
from tests.support.notice_server import NTFY_REFUSED, Loopback

pytestmark = pytest.mark.req("P-18")


@dataclass
class Clock:
    time: float = 1_794_744_000.0

    def __call__(self) -> float:
        return self.time


@dataclass
class Recorder:
    """A channel that keeps what it is told, or does as `act` says."""

    name: str = "recorder"
    act: Callable[[Notice], Awaitable[None]] | None = None
    told: list[str] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, notice: Notice) -> None:
        if self.act is not None:
            await self.act(notice)
        self.told.append(notice.summary)
        self.heard.set()


async def refuse(notice: Notice) -> None:
    raise NotDelivered("refused")


async def hang(notice: Notice) -> None:
    await asyncio.Event().wait()


@dataclass
class Bench:
    outbox: Outbox
    clock: Clock = field(default_factory=Clock)
    warnings: list[str] = field(default_factory=list)

    def sender(self, *channels: Channel, **options: Any) -> Sender:
        return Sender(
            self.outbox,
            {channel.name: channel for channel in channels},
            warn=lambda notice, text: self.warnings.append(text),
            now=self.clock,
            **options,
        )

    def states(self) -> list[tuple[str, str]]:
        return [(entry.key, entry.state) for entry in self.outbox.list()]


@pytest.fixture
def bench(outbox: Outbox) -> Bench:
    return Bench(outbox)


def said(summary: str) -> Notice:
    return Notice("20261115-ab12", "Wedding Plan", "building", "milestone_complete", summary)


@asynccontextmanager
async def running(sender: Sender) -> Any:
    task = asyncio.create_task(sender.run())
    await asyncio.sleep(0)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.asyncio
async def test_what_is_told_goes_out_once_by_every_channel(bench: Bench) -> None:
    one, two = Recorder("one"), Recorder("two")
    sender = bench.sender(one, two)
    for _ in range(3):
        sender.tell("run/4", said("built"))
    await sender.flush(20)
    await sender.flush(20)
    assert (one.told, two.told) == (["built"], ["built"])
    assert bench.states() == [("run/4/one", "sent"), ("run/4/two", "sent")]
    assert bench.warnings == []


@pytest.mark.asyncio
async def test_a_notice_can_be_kept_to_some_channels(bench: Bench) -> None:
    one, two = Recorder("one"), Recorder("two")
    sender = bench.sender(one, two)
    sender.tell("run/4", said("built"), by=["two"])
    await sender.flush(20)
    assert (one.told, two.told) == ([], ["built"])


@pytest.mark.asyncio
@pytest.mark.parametrize("data", ["{", "[1]", "{}", '"words"'])
async def test_a_row_that_cannot_be_read_is_given_up_and_keeps_back_no_other(
    bench: Bench, database: Database, data: str
) -> None:
    one, two = Recorder("one"), Recorder("two")
    sender = bench.sender(one, two)
    sender.tell("bad", said("bad"), by=["one"])
    with database.transaction() as connection:
        connection.execute(update(rows).values(notice=data))
    sender.tell("good", said("good"))
    async with running(sender), asyncio.timeout(20):
        await one.heard.wait()
        await two.heard.wait()
    assert (one.told, two.told) == (["good"], ["good"])
    assert ("bad/one", "failed") in bench.states()
    assert len(bench.warnings) == 1


@pytest.mark.asyncio
async def test_a_failure_is_tried_once_more_and_then_given_up(bench: Bench) -> None:
    sender = bench.sender(Recorder(act=refuse), retry_seconds=30)
    sender.tell("k", said("built"))
    await sender.flush(20)
    assert bench.warnings == ["notification by recorder failed, one more try follows: refused"]
    await sender.flush(20)
    assert len(bench.warnings) == 1
    bench.clock.time += 30
    await sender.flush(20)
    assert bench.warnings[1:] == ["notification by recorder given up: refused"]
    bench.clock.time += 1000
    await sender.flush(20)
    assert len(bench.warnings) == 2
    assert bench.states() == [("k/recorder", "failed")]


@pytest.mark.asyncio
async def test_the_second_try_delivers(bench: Bench, server: Loopback) -> None:
    server.answers.append((403, NTFY_REFUSED))
    sender = bench.sender(CHANNELS["ntfy"]({"url": server.url, "topic": "t"}))
    sender.tell("k", said("built"))
    await sender.flush(20)
    bench.clock.time += 30
    await sender.flush(20)
    assert len(server.told) == 2
    assert bench.states() == [("k/ntfy", "sent")]
    assert "forbidden" in bench.warnings[0]


@pytest.mark.asyncio
async def test_a_server_that_does_not_answer_holds_nobody_up(bench: Bench, server: Loopback) -> None:
    server.open.clear()
    slow, quick = CHANNELS["ntfy"]({"url": server.url, "topic": "t"}), Recorder()
    sender = bench.sender(slow, quick)
    async with running(sender):
        started = time.perf_counter()
        for number in range(10):
            sender.tell(f"k{number}", said(f"{number}"))
        assert time.perf_counter() - started < 1.0
        async with asyncio.timeout(10):
            while len(quick.told) < 10:
                quick.heard.clear()
                await quick.heard.wait()
        assert quick.told == [str(number) for number in range(10)]
        assert await asyncio.to_thread(server.arrived.acquire, timeout=10)
        assert ("k0/ntfy", "sending") in bench.states()


@pytest.mark.asyncio
async def test_a_flush_ends_in_time_and_leaves_the_rest_for_later(bench: Bench, server: Loopback) -> None:
    server.open.clear()
    sender = bench.sender(CHANNELS["ntfy"]({"url": server.url, "topic": "t"}))
    sender.tell("k1", said("one"))
    sender.tell("k2", said("two"))
    started = time.perf_counter()
    await sender.flush(0.5)
    assert time.perf_counter() - started < 6.0
    assert bench.states() == [("k1/ntfy", "pending"), ("k2/ntfy", "pending")]
    server.open.set()
    await sender.flush(20)
    assert bench.states() == [("k1/ntfy", "sent"), ("k2/ntfy", "sent")]
    assert [line.partition(" ")[0] for line in server.messages()][-2:] == ["one", "two"]


@pytest.mark.asyncio
async def test_a_delivery_that_is_cut_off_twice_is_given_up(bench: Bench) -> None:
    begun = asyncio.Event()

    async def begin_and_hang(notice: Notice) -> None:
        begun.set()
        await hang(notice)

    sender = bench.sender(Recorder(act=begin_and_hang))
    sender.tell("k", said("built"))
    for _ in range(2):
        begun.clear()
        async with running(sender):
            await asyncio.wait_for(begun.wait(), 20)
    await sender.flush(20)
    assert bench.warnings == ["notification by recorder given up: it was cut off twice while being sent"]
    assert bench.states() == [("k/recorder", "failed")]


@pytest.mark.asyncio
async def test_a_claim_that_comes_too_late_is_given_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sender = bench.sender(Recorder())
    sender.tell("k", said("built"))
    claim, slow = bench.outbox.claim, threading.Event()

    def claim_slowly(*args: Any, **options: Any) -> Any:
        slow.wait(10)
        return claim(*args, **options)

    monkeypatch.setattr(bench.outbox, "claim", claim_slowly)
    asyncio.get_running_loop().call_later(0.2, slow.set)
    await sender.flush(0.05)
    assert [(entry.state, entry.interrupted) for entry in bench.outbox.list()] == [("pending", 0)]


@pytest.mark.asyncio
async def test_a_channel_that_takes_too_long_has_failed(bench: Bench) -> None:
    sender = bench.sender(Recorder(act=hang), send_seconds=0.05)
    sender.tell("k", said("built"))
    await sender.flush(20)
    assert bench.warnings == ["notification by recorder failed, one more try follows: no answer within 0.05 s"]


@pytest.mark.req("X-06")
@pytest.mark.asyncio
async def test_a_channel_that_breaks_stops_nothing_and_shows_nothing(bench: Bench) -> None:
    async def broken(notice: Notice) -> None:
        raise ValueError("https://user:planted0secret1@host")

    good = Recorder("good")
    sender = bench.sender(Recorder("bad", act=broken), good)
    sender.tell("k", said("built"))
    await sender.flush(20)
    assert good.told == ["built"]
    assert bench.warnings == ["notification by bad failed, one more try follows: the channel broke with ValueError"]


@pytest.mark.asyncio
async def test_what_is_told_while_it_runs_goes_out_at_once(bench: Bench) -> None:
    channel = Recorder()
    sender = bench.sender(channel, idle_seconds=60)
    async with running(sender):
        await asyncio.sleep(0.05)
        await asyncio.to_thread(sender.tell, "k", said("from another thread"))
        await asyncio.wait_for(channel.heard.wait(), 10)
    assert channel.told == ["from another thread"]


@pytest.mark.asyncio
async def test_what_another_process_told_is_found_too(bench: Bench) -> None:
    channel = Recorder()
    async with running(bench.sender(channel, idle_seconds=0.02)):
        await asyncio.sleep(0.05)
        bench.sender(channel).tell("k", said("built"))
        await asyncio.wait_for(channel.heard.wait(), 10)
    assert channel.told == ["built"]


@pytest.mark.asyncio
async def test_a_notice_of_last_month_is_not_sent_any_more(bench: Bench) -> None:
    channel = Recorder()
    sender = bench.sender(channel)
    sender.tell("k", said("built"))
    bench.clock.time += 30 * 86_400
    await sender.flush(20)
    assert channel.told == []
    assert "week" in bench.warnings[0]


@pytest.mark.asyncio
async def test_a_database_that_is_gone_is_a_warning(bench: Bench, database: Database) -> None:
    sender = bench.sender(Recorder())
    database.close()
    await sender.flush(20)
    assert "closed" in bench.warnings[0]


@pytest.mark.req("X-05")
@pytest.mark.asyncio
async def test_two_senders_do_not_send_twice(database: Database) -> None:
    channel = Recorder()
    benches = [Bench(Outbox(database)), Bench(Outbox(database))]
    senders = [bench.sender(channel) for bench in benches]
    for number in range(20):
        senders[number % 2].tell(f"k{number}", said(f"{number}"))
    async with asyncio.timeout(20):
        while len(channel.told) < 20:
            await asyncio.gather(*(sender.flush(10) for sender in senders))
    assert channel.told == [str(number) for number in range(20)]


PROCESS = textwrap.dedent("""
    import asyncio, os, sys, time
    from forge.notices.channels import CHANNELS
    from forge.notices.sender import Sender
    from forge.plugins.roles import Notice
    from forge.store.database import Database
    from forge.store.outbox import Outbox

    url, server, do = sys.argv[1:]
    channel = CHANNELS["ntfy"]({"url": server, "topic": "t"})
    sender = Sender(Outbox(Database.open(url)), {"ntfy": channel}, warn=lambda notice, text: print(text))
    if do == "tell-and-die":
        sender.tell("k", Notice("p", "Plan", "building", "error", "told before the end"))
        os._exit(9)
    if do == "die-while-sending":
        sender.tell("k", Notice("p", "Plan", "building", "error", "told before the end"))
        asyncio.run(sender.run())
    if do == "flush":
        import apprise.plugins.ntfy
        sender.tell("k2", Notice("p", "Plan", "building", "error", "another"))
        asyncio.run(sender.flush(2.0))
    if do == "send-all":
        asyncio.run(sender.flush(20))
""")


def process(database: Database, server: Loopback, do: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROCESS, f"sqlite:///{database.path}", server.url, do]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.req("X-04")
def test_what_was_told_before_a_crash_is_delivered_after_it(database: Database, server: Loopback) -> None:
    with process(database, server, "tell-and-die") as dead:
        assert dead.wait(30) == 9
    assert server.told == []
    with process(database, server, "send-all") as later:
        assert later.communicate(timeout=30)[0] == ""
    assert server.messages() == ["told before the end (building, error, p)"]


@pytest.mark.req("X-04")
@pytest.mark.asyncio
async def test_a_process_killed_in_the_middle_of_sending_doubles_it_at_most_once(
    database: Database, server: Loopback
) -> None:
    server.open.clear()
    with process(database, server, "die-while-sending") as killed:
        assert await asyncio.to_thread(server.arrived.acquire, timeout=30)
        killed.kill()
    server.open.set()
    bench = Bench(Outbox(database), Clock(time.time()))
    sender = bench.sender(CHANNELS["ntfy"]({"url": server.url, "topic": "t"}))
    await sender.flush(20)
    assert len(server.told) == 1  # the dead one's claim still holds
    bench.clock.time += LEASE_SECONDS + 1
    await sender.flush(20)
    bench.clock.time += 1e5
    await sender.flush(20)
    assert len(server.told) == 2
    assert bench.states() == [("k/ntfy", "sent")]


def test_a_short_process_ends_in_time_though_the_server_is_slow(database: Database, server: Loopback) -> None:
    server.open.clear()
    with process(database, server, "flush") as short:
        assert server.arrived.acquire(timeout=30)
        asked = time.perf_counter()
        short.wait(30)
        assert time.perf_counter() - asked < 8.0  # its request would wait for ten seconds
    assert [entry.state for entry in Outbox(database).list()] == ["pending"]


def test_two_processes_send_each_notice_once(database: Database, server: Loopback) -> None:
    bench = Bench(Outbox(database), Clock(time.time()))
    teller = bench.sender(Recorder("ntfy"))
    for number in range(10):
        teller.tell(f"k{number}", said(f"{number}"))
    both = [process(database, server, "send-all") for _ in range(2)]
    for one in both:
        assert one.communicate(timeout=60)[0] == ""
    assert [line.partition(" ")[0] for line in server.messages()] == [str(number) for number in range(10)]
