"""The one SQL database: a SQLite file, or PostgreSQL by its URL. Short synchronous transactions, always durable."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, SQLAlchemyError

from forge.errors import InvalidInput
from forge.store.errors import StoreAddressInvalid, StoreDamaged, StoreUnavailable
from forge.store.migrate import migrate
from forge.store.write_lock import InTurn

_CACHE_KB = 256
# Each connection keeps what it has prepared and read, so that few are used much rather than all of them a little, and
# for a minute: those that are used now and then would still be filling long after the start.
SQLITE_OPTIONS: dict[str, Any] = {
    "pool_use_lifo": True,
    "pool_recycle": 60,
    "connect_args": {"cached_statements": 48},
}
OLDEST_SQLITE = (3, 35)
"""The first one that answers an INSERT with the rows it made (RETURNING)."""
_BUSY_MS = 30_000
_AGAIN = 0.005
_READ = {"forge_read": True}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_KIND_OF_CODE = 0xFF
_MAKING = threading.Lock()


class Database:
    """Open for as long as the process needs it; safe to use from several threads."""

    def __init__(self, engine: Engine, url: URL) -> None:
        self.engine = engine
        self.url = url
        self._readers = engine.execution_options(**_READ)
        self._closed = threading.Event()
        self._in_turn = InTurn() if self.is_sqlite else nullcontext()

    @classmethod
    def open(cls, url: str, *, pool_size: int = 8) -> Database:
        """Opens it, creates it where it is a file, and brings its tables up to date."""
        address = parse(url)
        engine = engine_for(address, pool_size=pool_size)
        database = cls(engine, address)
        try:
            with database.transaction() as connection:
                migrate(connection)
        except BaseException:
            engine.dispose()
            raise
        return database

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        return Path(self.url.database) if self.is_sqlite and self.url.database else None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Everything inside is written together or not at all; on disk when it ends."""
        with self._translated(), self._in_turn, self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view. Never waits for a writer."""
        with self._translated(), self._readers.begin() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        if self._closed.is_set():
            raise StoreUnavailable("the database has been closed", hint="open it again")
        try:
            yield
        except DataError as error:
            # PostgreSQL has no NUL in its texts: what came with one is wrong, not the database.
            raise InvalidInput(
                f"This cannot be kept or looked for: {_reason(error.orig)}.", hint="Leave it out."
            ) from error
        except SQLAlchemyError as error:
            raise unavailable(self.url, error) from error

    def close(self) -> None:
        self._closed.set()
        self.engine.dispose()


def parse(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise StoreAddressInvalid(
            "the database URL cannot be read",
            hint="write sqlite:////absolute/path/forge.db or postgresql://user@host/database",
        ) from error
    kind = address.drivername.partition("+")[0]
    if kind in {"postgresql", "postgres"}:
        return address.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise StoreAddressInvalid(f"Forge cannot use a {kind} database", hint="use a sqlite: or postgresql: URL")
    if not address.database or address.database == ":memory:" or not os.path.isabs(address.database):
        raise StoreAddressInvalid(
            "the SQLite database needs an absolute path", hint="write sqlite:////absolute/path/forge.db"
        )
    return address.set(drivername="sqlite+pysqlite")


def engine_for(address: URL, *, pool_size: int) -> Engine:
    if address.drivername.startswith("sqlite"):
        return _sqlite(address, pool_size)
    # The connection is tried before use, so a restarted server costs nobody an error.
    return create_engine(
        address, pool_size=pool_size, pool_pre_ping=True, pool_recycle=1800, connect_args={"connect_timeout": 10}
    )


def _sqlite(address: URL, pool_size: int) -> Engine:
    assert address.database is not None
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StoreUnavailable(
            f"SQLite {sqlite3.sqlite_version} of this Python is too old",
            hint=f"Use a Python with SQLite {oldest} or newer, or set `database` to a PostgreSQL address.",
        )
    private_file(Path(address.database), address)
    engine = create_engine(address, pool_size=pool_size, **SQLITE_OPTIONS)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: object) -> None:
        del record
        prepare_sqlite(connection)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes its lock at once: one that reads first and writes later would fail when somebody came between.
        reads = connection.get_execution_options().get("forge_read")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def prepare_sqlite(connection: sqlite3.Connection) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    # A server has dozens of connections: pages are kept once, by the system, rather than by each of them.
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KB}")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Several processes may be the first at once, and SQLite tells all but one of them at once that it is busy."""
    deadline = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _KIND_OF_CODE != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_AGAIN)
        else:
            return


def private_file(path: Path, address: URL) -> None:
    """What people said and what it cost is nobody else's to read.

    A file that is there is SQLite's alone. Closing it, by whichever descriptor, gives up every lock that this process
    has on it: the next process that ends would believe itself to be the last, and take the log away that is in use.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _MAKING, suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise unavailable(address, error) from error


def unavailable(address: URL, error: Exception) -> StoreUnavailable:
    """Names the place and the reason, never the password."""
    cause = getattr(error, "orig", None) or error
    reason = _reason(cause)
    if address.password:
        reason = reason.replace(str(address.password), "***")
    where = address.database if address.drivername.startswith("sqlite") else f"{address.host or 'the local server'}"
    if getattr(cause, "sqlite_errorcode", 0) & _KIND_OF_CODE in _DAMAGED:
        hint = "Stop Forge and run `forge doctor --repair`: it keeps the file by another name and says what is lost."
        return StoreDamaged(f"the database at {where} is damaged: {reason}", hint=hint)
    if address.drivername.startswith("sqlite"):
        hint = "Check that the disk has room and that the file may be written, or set another FORGE_DATA_DIR."
    else:
        hint = "check that the server runs, and the name, password and database in the URL"
    return StoreUnavailable(f"the database at {where} failed: {reason}", hint=hint)


def _reason(error: Any) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
