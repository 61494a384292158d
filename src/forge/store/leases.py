"""Rows of worker processes: each counts its heartbeats, and who stops counting can be declared dead, for good."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from forge.store.database import Database
from forge.store.schema import workers


@dataclass(frozen=True, slots=True)
class Lease:
    """Beats are counted, not timed: clocks of several machines differ, and any of them may jump."""

    id: str
    host: str
    machine: str
    pid: int
    process_started: str
    beats: int
    alive: bool
    serves: bool = False
    """Whether it runs what others begin and leave."""
    offers: frozenset[str] = frozenset()
    """What it has that a run may need, by name."""


class Leases:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, lease: Lease) -> None:
        now = time.time()
        row = {"id": lease.id, "host": lease.host, "machine": lease.machine, "pid": lease.pid}
        row |= {"process_started": lease.process_started, "state": "alive", "beats": 0, "started": now, "seen": now}
        row |= {"serves": lease.serves}
        with self._database.transaction() as connection:
            connection.execute(insert(workers).values(**row))

    def beat(self, id_: str) -> bool:
        """Whether the lease still holds."""
        change = update(workers).where(workers.c.id == id_, workers.c.state == "alive")
        with self._database.transaction() as connection:
            done = connection.execute(change.values(beats=workers.c.beats + 1, seen=time.time()))
        return done.rowcount == 1

    def offer(self, id_: str, names: Collection[str]) -> None:
        change = update(workers).where(workers.c.id == id_).values(offers=json.dumps(sorted(names)))
        with self._database.transaction() as connection:
            connection.execute(change)

    def list(self) -> tuple[Lease, ...]:
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(select(workers).order_by(workers.c.started)))

    def declare_dead(self, lease: Lease) -> bool:
        """Whether it is dead now. One heartbeat since `lease` was read, and it is not."""
        change = update(workers).where(
            workers.c.id == lease.id, workers.c.beats == lease.beats, workers.c.state == "alive"
        )
        with self._database.transaction() as connection:
            if connection.execute(change.values(state="dead")).rowcount == 1:
                return True
            state = connection.execute(select(workers.c.state).where(workers.c.id == lease.id)).scalar()
        return state != "alive"

    def drop(self, id_: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(workers).where(workers.c.id == id_))


def _value(row: Row[Any]) -> Lease:
    return Lease(
        row.id,
        row.host,
        row.machine,
        row.pid,
        row.process_started,
        row.beats,
        row.state == "alive",
        row.serves,
        frozenset(json.loads(row.offers)),
    )
