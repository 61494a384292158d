"""Notices on their way out: written once, taken by one process at a time, kept until delivered or given up.

A delivery is claimed before anything is sent and confirmed after. Where the process dies in between, nobody can know
whether it went out: the claim runs out and the notice is taken again. So a notice is delivered at least once, and more
than once only if a delivery was cut off before its confirmation.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, or_, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing, inserts
from forge.store.schema import outbox

_Columns = TypeVar("_Columns", bound=tuple[Any, ...])

EntryState = Literal["pending", "sending", "sent", "failed"]

LEASE_SECONDS = 60.0
"""For how long a claim holds. Longer than any delivery is allowed to take."""

LONGEST_WAIT = 3600.0
"""No retry is put off further than this. A row that says otherwise was written under a clock that was wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One notice for one channel. `attempts` counts deliveries that failed, `interrupted` those cut off half-way."""

    id: int
    key: str
    channel: str
    notice: Mapping[str, Any]
    created: float
    attempts: int
    interrupted: int
    next_try: float
    state: EntryState
    error: str | None = None


class Outbox:
    def __init__(self, database: Database, *, holder: str | None = None) -> None:
        self._database = database
        self._holder = holder or uuid.uuid4().hex

    def add(self, key: str, channel: str, notice: Mapping[str, Any], *, now: float) -> bool:
        """Whether it is new. A key that was added before, even one long delivered, adds nothing."""
        row: dict[str, Any] = {"key": key, "channel": channel, "notice": json.dumps(dict(notice), ensure_ascii=False)}
        row |= {"created": now, "next_try": now, "attempts": 0, "interrupted": 0, "state": "pending"}
        with self._database.transaction() as connection:
            return inserts(connection, insert_missing(outbox, row, self._database, "key"))

    def claim(self, n: int, now: float, *, channels: Collection[str] | None = None) -> tuple[Entry, ...]:
        """Up to `n` due ones, the oldest of each channel, for nobody else to send until the claim runs out.

        A channel that somebody is sending on is left out, so that notices of one channel arrive in their order.
        """
        due = _due(now)
        taken = update(outbox).values(
            state="sending",
            holder=self._holder,
            lease=now + LEASE_SECONDS,
            interrupted=outbox.c.interrupted + case((outbox.c.state == "sending", 1), else_=0),
        )
        with self._database.transaction() as connection:
            ids = connection.execute(_heads(due, now, channels).limit(n)).scalars().all()
            # Another process may have taken it since it was read; the condition is checked again with the row locked.
            ours = [id_ for id_ in ids if connection.execute(taken.where(outbox.c.id == id_, due)).rowcount == 1]
            rows = connection.execute(select(outbox).where(outbox.c.id.in_(ours)).order_by(outbox.c.id))
            return tuple(_value(row) for row in rows)

    def done(self, id_: int) -> bool:
        """It was delivered. False where the claim has run out and is somebody else's now."""
        return self._close(id_, state="sent", error=None)

    def failed(self, id_: int, error: str, retry_at: float | None) -> bool:
        """It could not be delivered: due again at `retry_at`, or given up."""
        attempts = outbox.c.attempts + 1
        if retry_at is None:
            return self._close(id_, state="failed", error=error, attempts=attempts)
        return self._close(id_, state="pending", error=error, attempts=attempts, next_try=retry_at)

    def interrupted(self, id_: int, error: str, *, now: float) -> bool:
        """The delivery was broken off before its end: due again at once, and not counted as a try."""
        counted = outbox.c.interrupted + 1
        return self._close(id_, state="pending", error=error, interrupted=counted, next_try=now)

    def release(self, id_: int) -> bool:
        """Nothing was sent: as if it had not been claimed."""
        return self._close(id_, state="pending")

    def next_due(self, *, channels: Collection[str] | None = None) -> float | None:
        """When the next waiting one is due; None where none waits."""
        query = _among(select(func.min(outbox.c.next_try)).where(outbox.c.state == "pending"), channels)
        with self._database.reading() as connection:
            return connection.execute(query).scalar()

    def list(self, *, state: EntryState | None = None) -> tuple[Entry, ...]:
        query = select(outbox).order_by(outbox.c.id)
        if state is not None:
            query = query.where(outbox.c.state == state)
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))

    def _close(self, id_: int, **values: Any) -> bool:
        mine = and_(outbox.c.id == id_, outbox.c.state == "sending", outbox.c.holder == self._holder)
        with self._database.transaction() as connection:
            change = update(outbox).where(mine).values(holder=None, lease=None, **values)
            return connection.execute(change).rowcount == 1


def _due(now: float) -> ColumnElement[bool]:
    waiting = or_(outbox.c.next_try <= now, outbox.c.next_try > now + LONGEST_WAIT)
    return or_(and_(outbox.c.state == "pending", waiting), and_(outbox.c.state == "sending", ~_held(now)))


def _held(now: float) -> ColumnElement[bool]:
    # A lease far further ahead than a lease can be was given before the clock was set back. A little further is usual:
    # whoever asks may have looked at the clock, and then waited while the other one claimed.
    return and_(outbox.c.lease > now, outbox.c.lease <= now + 2 * LEASE_SECONDS)


def _heads(due: ColumnElement[bool], now: float, channels: Collection[str] | None) -> Select[tuple[int]]:
    busy = select(outbox.c.channel).where(outbox.c.state == "sending", _held(now))
    first = func.min(outbox.c.id)
    query = select(first).where(due, outbox.c.channel.not_in(busy)).group_by(outbox.c.channel).order_by(first)
    return _among(query, channels)


def _among(query: Select[_Columns], channels: Collection[str] | None) -> Select[_Columns]:
    return query if channels is None else query.where(outbox.c.channel.in_(channels))


def _notice(text: str) -> Mapping[str, Any]:
    """One that cannot be read has nothing in it, so that it is given up and those behind it are sent."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _value(row: Row[Any]) -> Entry:
    return Entry(
        id=row.id,
        key=row.key,
        channel=row.channel,
        notice=_notice(row.notice),
        created=row.created,
        attempts=row.attempts,
        interrupted=row.interrupted,
        next_try=row.next_try,
        state=row.state,
        error=row.error,
    )
