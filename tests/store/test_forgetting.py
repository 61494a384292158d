"""Rows of long ago go; those that something may still need stay."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, update

from forge.events import BranchChanged
from forge.store import retention, schema
from forge.store.database import Database
from forge.store.events import Events
from forge.store.outbox import Outbox
from forge.store.retention import forget_events, forget_notices
from forge.store.runs import Room, Runs
from forge.subjects import project_subject

pytestmark = pytest.mark.req("X-04")


def _aged(database: Database, *ids: int) -> None:
    with database.transaction() as connection:
        connection.execute(update(schema.events).where(schema.events.c.id.in_(ids)).values(time=1_000.0))


@pytest.fixture
def events(database: Database) -> Events:
    return Events(database)


def test_old_events_go_and_later_ones_go_on_counting(
    database: Database, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_TOGETHER", 2)
    for number in range(1, 7):
        events.append("branch:r:b", BranchChanged("b", f"{number}", "Ana"))
    _aged(database, 1, 2, 3, 4, 5)
    assert list(forget_events(database, 2_000.0)) == [2, 2, 1]
    assert [each.id for each in events.after("branch:r:b")] == [6]
    assert list(forget_events(database, 2_000.0)) == []
    _aged(database, 6)
    assert sum(forget_events(database, 2_000.0)) == 1
    assert events.append("branch:r:b", BranchChanged("b", "7", "Ana")) == 7
    events.close()


@pytest.mark.asyncio
async def test_a_listener_that_was_away_hears_what_is_left(database: Database, events: Events) -> None:
    for number in range(1, 5):
        events.append("t", BranchChanged("b", f"{number}", "Ana"))
    _aged(database, 1, 2, 3)
    assert sum(forget_events(database, 2_000.0)) == 3
    heard = events.follow("t", 1)
    assert (await anext(heard)).id == 4  # type: ignore[union-attr]
    events.append("t", BranchChanged("b", "5", "Ana"))
    assert (await anext(heard)).id == 5  # type: ignore[union-attr]
    await heard.aclose()
    events.close()


def test_what_a_run_has_said_stays_until_it_is_over(database: Database, events: Events) -> None:
    runs = Runs(database)
    for name in ("run-1", "run-10"):
        runs.add(name, name="turn", subject=project_subject("p1"), queue=None, partition=None)
        runs.enter(name, Room())
    said = BranchChanged("b", "1", "Ana")
    assert events.append("t", said, origin="run-1/step/0") == 1
    assert events.append("t", said, origin="run-10/step/0") == 2
    runs.end("run-10", "done")
    _aged(database, 1, 2)
    assert sum(forget_events(database, 2_000.0)) == 1
    assert events.append("t", said, origin="run-1/step/0") == 1  # it is known, and not said again
    runs.end("run-1", "done")
    assert sum(forget_events(database, 2_000.0)) == 1
    events.close()


def test_notices_that_went_out_go_and_those_on_their_way_stay(database: Database) -> None:
    outbox = Outbox(database)
    for key in ("sent", "given up", "waiting"):
        outbox.add(key, "ntfy" if key == "sent" else key, {}, now=1_000.0)
    claimed = {each.key: each.id for each in outbox.claim(2, 1_001.0)}
    outbox.done(claimed["sent"])
    outbox.failed(claimed["given up"], "refused", None)
    assert sum(forget_notices(database, 999.0)) == 0
    assert sum(forget_notices(database, 2_000.0)) == 2
    with database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(schema.outbox)).scalar() == 1
