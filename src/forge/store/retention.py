"""Rows of long ago that nothing can need any more go, a few at a time, so that no one waits long for the database."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import delete, exists, func, select, tuple_

from forge.store.database import Database
from forge.store.runs import ENDED
from forge.store.schema import events, outbox, runs

_TOGETHER = 500


def forget_events(database: Database, before: float) -> Iterator[int]:
    """Their ids are not given again. What a run has said stays until the run has ended: done again, it is known so."""
    run = func.substr(events.c.origin, 1, func.length(runs.c.id) + 1) == runs.c.id + "/"
    of_one_under_way = exists().where(runs.c.state.not_in(ENDED), run)
    old = select(events.c.topic, events.c.id).where(events.c.time < before, ~of_one_under_way).limit(_TOGETHER)
    while True:
        # Found before the lock of writers is taken: in a large table that may take a while.
        with database.reading() as connection:
            keys = [tuple(row) for row in connection.execute(old)]
        if not keys:
            return
        with database.transaction() as connection:
            connection.execute(delete(events).where(tuple_(events.c.topic, events.c.id).in_(keys)))
        yield len(keys)


def forget_notices(database: Database, before: float) -> Iterator[int]:
    """Those that went out, or were given up."""
    over = outbox.c.state.in_(("sent", "failed")) & (outbox.c.created < before)
    some = select(outbox.c.id).where(over).limit(_TOGETHER)
    while True:
        with database.transaction() as connection:
            gone = connection.execute(delete(outbox).where(outbox.c.id.in_(some))).rowcount
        if not gone:
            return
        yield gone
