"""Leases: who is dead, by what is seen of it and by no clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from forge.engine.workers import Worker, _machine, _process_started
from forge.store.database import Database
from forge.store.leases import Lease, Leases

pytestmark = pytest.mark.req("X-04", "X-05")


def worker(database: Database, *, dead_after: float = 0.2) -> Worker:
    made = Worker(Leases(database), beat=0.05, dead_after=dead_after, on_lost=lambda name: None)
    made.take_lease()
    return made


def test_a_process_of_this_machine_that_is_gone_is_dead_at_once(database: Database) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    Leases(database).take(Lease("gone", "h", _machine(), gone.pid, "1", 0, True))
    Leases(database).take(Lease("reborn", "h", _machine(), os.getpid(), "another start", 0, True))
    assert set(worker(database, dead_after=60).find_dead()) == {"gone", "reborn"}


def test_a_process_elsewhere_is_dead_when_its_beats_stop(database: Database) -> None:
    leases = Leases(database)
    leases.take(Lease("far", "h", "another machine", 1, "1", 0, True))
    me = worker(database)
    assert me.find_dead() == ()
    time.sleep(0.15)
    leases.beat("far")
    assert me.find_dead() == ()
    time.sleep(0.25)
    assert me.find_dead() == ("far",)
    assert not leases.beat("far")


def test_a_slow_process_that_is_seen_alive_gets_longer(database: Database) -> None:
    Leases(database).take(Lease("slow", "h", _machine(), os.getpid(), str(_process_started(os.getpid())), 0, True))
    me = worker(database)
    assert me.find_dead() == ()
    time.sleep(0.3)
    assert me.find_dead() == ()
    time.sleep(0.4)
    assert me.find_dead() == ("slow",)


def test_a_process_whose_name_is_no_text_stops_no_heartbeat(database: Database) -> None:
    """The kernel cuts names after 15 bytes, also in the middle of a letter."""
    named = "open('/proc/self/comm', 'wb').write(b'gr\\xc3\\xb6\\xc3'); print(flush=True); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", named], stdout=subprocess.PIPE) as odd:
        assert odd.stdout is not None
        odd.stdout.readline()
        Leases(database).take(Lease("reborn", "h", _machine(), odd.pid, "another start", 0, True))
        assert _process_started(odd.pid) is not None
        assert worker(database, dead_after=60).find_dead() == ("reborn",)
        odd.kill()


def test_runs_whose_holder_has_no_lease_are_nobodys(database: Database) -> None:
    me = worker(database)
    other = worker(database)
    assert me.without_lease({me.id, other.id, "nobody"}) == ("nobody",)
    other.leave()
    assert me.without_lease({me.id, other.id}) == (other.id,)


@pytest.mark.asyncio
async def test_a_lost_lease_is_noticed_before_the_next_step(database: Database) -> None:
    lost: list[str] = []
    me = Worker(Leases(database), beat=0.05, dead_after=0.2, on_lost=lost.append)
    me.take_lease()
    assert await me.wait_until_sure()
    (lease,) = Leases(database).list()
    Leases(database).declare_dead(lease)
    time.sleep(0.2)
    assert not await me.wait_until_sure()
    assert lost == [lease.id]
    assert me.renew() != lease.id
    assert await me.wait_until_sure()
