"""The engine's own tables: a process that is killed while it makes them leaves a database that can be used."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from forge.engine.durable import Durable
from forge.engine.engine import Engine
from forge.engine.run_tables import engine_for_runs
from forge.store.database import Database
from forge.store.errors import StoreUnavailable
from tests.support.fork_context import FORKED


async def _launched(path: Path, killed_at: int | None) -> None:
    database = Database.open(f"sqlite:///{path}")
    durable = Durable(database, executor_id="one", workflows={})
    counted = 0

    @event.listens_for(durable._engine, "before_cursor_execute")
    def count(connection: object, cursor: object, statement: str, *more: Any) -> None:
        nonlocal counted
        counted += 1
        if counted == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    await durable.launch({}, serve=False)
    await durable.close()
    database.close()


def _launch(path: Path, killed_at: int | None = None) -> None:
    asyncio.run(_launched(path, killed_at))


@pytest.mark.parametrize("statement", [3, 5, 9, 20])
def test_a_process_killed_while_it_makes_the_tables_leaves_none_of_them_half(tmp_path: Path, statement: int) -> None:
    path = tmp_path / "forge.db"
    killed = FORKED.Process(target=_launch, args=(path, statement))
    killed.start()
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL
    after = FORKED.Process(target=_launch, args=(path,))
    after.start()
    after.join(60)
    assert after.exitcode == 0


@pytest.mark.asyncio
async def test_a_damaged_file_of_runs_is_named_and_not_the_sound_database_beside_it(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'forge.db'}")
    (tmp_path / "forge-runs.db").write_bytes(b"no database" * 1000)
    engine = Engine(database)
    try:
        with pytest.raises(StoreUnavailable, match=r"forge-runs\.db"):
            await engine.start()
    finally:
        await asyncio.to_thread(engine.events.close)
        database.close()


@pytest.mark.req("X-03")
def test_sqlite_tells_the_time_in_milliseconds_whatever_its_version(database: Database) -> None:
    """DBOS asks for it this way from Python 3.12 on, and keeps it in columns of whole numbers."""
    engine = engine_for_runs(database)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE made (at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))")
        connection.exec_driver_sql("INSERT INTO made DEFAULT VALUES")
        kind, at = connection.exec_driver_sql("SELECT typeof(at), at FROM made").one()
    engine.dispose()
    assert kind == "integer"
    assert abs(at / 1000 - time.time()) < 5
