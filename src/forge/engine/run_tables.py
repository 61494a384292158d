"""Where the durable-execution library keeps its runs: a second file beside a SQLite database, or a schema."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

import sqlalchemy as sa

from forge.store.database import SQLITE_OPTIONS, Database, prepare_sqlite, private_file
from forge.store.write_lock import write_in_turn

_SUBSECONDS = (3, 42)


def engine_for_runs(database: Database) -> sa.Engine:
    """A SQLite database gets a second file beside it; in PostgreSQL DBOS has a schema of its own.

    DBOS asks its queues with the write lock in hand, many times a second: in one file with the events, their writers
    would wait for it, and their readers would look again after each of its steps.
    """
    path = database.path
    if path is None:
        return sa.create_engine(database.url, pool_size=10, max_overflow=10, pool_pre_ping=True)
    beside = path.with_name(f"{path.stem}-runs{path.suffix}")
    address = database.url.set(database=str(beside))
    private_file(beside, address)
    engine = sa.create_engine(address, pool_size=10, max_overflow=10, **SQLITE_OPTIONS)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        del record
        prepare_sqlite(connection)
        _add_milliseconds(connection)
        # As DBOS expects of its engine: reads need no transaction, the first write opens one with the lock.
        connection.isolation_level = "IMMEDIATE"

    write_in_turn(engine)
    return engine


def _add_milliseconds(connection: sqlite3.Connection) -> None:
    """From Python 3.12 on, DBOS asks SQLite for `unixepoch('subsec')`, which is NULL before SQLite 3.42."""
    if sqlite3.sqlite_version_info < _SUBSECONDS:
        connection.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(modifier: str) -> float:
    if modifier not in {"subsec", "subsecond"}:
        raise ValueError(modifier)
    return round(time.time(), 3)


def make_tables_whole(engine: sa.Engine) -> None:
    """The library makes its tables in its first transaction, which SQLite would not even begin for that."""
    sa.event.listen(engine, "begin", _begin, once=True)


def _begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
