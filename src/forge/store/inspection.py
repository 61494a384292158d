"""The database as the doctor finds it: nothing is made and nothing is brought up to date by looking."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from forge.errors import ForgeError
from forge.store.damaged_file import set_aside
from forge.store.database import Database, engine_for, parse
from forge.store.errors import StoreDamaged
from forge.store.migrate import revision
from forge.store.migrations import REVISIONS
from forge.store.runs import RunRow, Runs

_OWN = "forge-own-"
_UNFINISHED = (
    "SELECT workflow_uuid, status, executor_id, queue_name FROM {table} WHERE status IN ('PENDING', 'ENQUEUED')"
)
_LARGE = 50 << 20


@dataclass(frozen=True, slots=True)
class Facts:
    """`clock` is the server's time less ours, in seconds; None where the database is a file."""

    kind: str
    revision: str | None
    size: int
    damage: str = ""
    clock: float | None = None

    @property
    def is_newer(self) -> bool:
        return self.revision is not None and self.revision not in REVISIONS

    @property
    def is_older(self) -> bool:
        return not self.is_newer and self.revision != REVISIONS[-1]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run as the engine has it. `holder` is the worker that has it; None: it waits for any."""

    run: str
    holder: str | None


class Inspection:
    """Opened when it is first asked; `close` when done."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opened: list[Database] = []

    @cached_property
    def _address(self) -> Any:
        return parse(self._url)

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        address = self._address
        return Path(address.database) if address.drivername.startswith("sqlite") else None

    @property
    def exist(self) -> bool:
        return self.path is None or self.path.exists()

    @cached_property
    def database(self) -> Database:
        return self._open(self._address)

    @property
    def runs_path(self) -> Path | None:
        """Where the engine keeps its own tables, beside a database that is a file."""
        path = self.path
        return None if path is None else path.with_name(f"{path.stem}-runs{path.suffix}")

    @cached_property
    def usable(self) -> bool:
        """Whether it answers and its tables are those of this version. Why not is for the check of the database."""
        try:
            return self.exist and not (facts := self.facts).is_newer and not facts.is_older and not facts.damage
        except ForgeError:
            return False

    @cached_property
    def facts(self) -> Facts:
        try:
            return self._facts()
        except StoreDamaged as error:
            return Facts("SQLite", None, 0, error.message.rpartition(": ")[2])

    def _facts(self) -> Facts:
        database = self.database
        with database.reading() as connection:
            found = revision(connection)
            if database.path is not None:
                mode = str(connection.exec_driver_sql("PRAGMA journal_mode").scalar()).upper()
                version = ".".join(map(str, connection.dialect.dbapi.sqlite_version_info))  # type: ignore[union-attr]
                size = _size(database.path)
                return Facts(f"SQLite {version}, {mode}", found, size, _damage(connection) if size < _LARGE else "")
            version = ".".join(map(str, connection.dialect.server_version_info or ()))
            size = connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one()
            clock = connection.exec_driver_sql(
                "SELECT extract(epoch FROM clock_timestamp()) - %s::float8", (time.time(),)
            ).scalar_one()
        return Facts(f"PostgreSQL {version}", found, int(size), clock=float(clock))

    @cached_property
    def _runs(self) -> Database:
        return self._open(self._address.set(database=str(self.runs_path)))

    @cached_property
    def damage_of_runs(self) -> str:
        """What is wrong with the file of the runs; nothing where they are in the database itself."""
        path = self.runs_path
        if path is None or not path.exists():
            return ""
        try:
            with self._runs.reading() as connection:
                return _damage(connection) if _size(path) < _LARGE else ""
        except StoreDamaged as error:
            return error.message.rpartition(": ")[2]

    def set_aside(self, path: Path) -> Path:
        """Keep a damaged file by another name, which this gives, and look anew at what is there."""
        self.close()
        self._opened.clear()
        for name in ("database", "usable", "facts", "_runs", "damage_of_runs"):
            self.__dict__.pop(name, None)
        return set_aside(path)

    def run(self, id_: str) -> RunRow | None:
        return Runs(self.database).get(id_) if self.exist else None

    def unfinished(self) -> tuple[Unfinished, ...] | None:
        """Runs that the engine has not ended; None where it has no tables yet."""
        beside = self.runs_path
        if beside is not None:
            if not beside.exists():
                return None
            database = self._runs
            table, there = "workflow_status", "SELECT 1 FROM sqlite_master WHERE name = 'workflow_status'"
        else:
            database, table = self.database, "dbos.workflow_status"
            there = "SELECT to_regclass('dbos.workflow_status')"
        with database.reading() as connection:
            if connection.exec_driver_sql(there).scalar() is None:
                return None
            rows = connection.exec_driver_sql(_UNFINISHED.format(table=table)).all()
        return tuple(Unfinished(run, _holder(*held)) for run, *held in rows)

    def seen(self) -> dict[str, float]:
        """When each worker was last heard of, by its own clock."""
        with self.database.reading() as connection:
            return {id_: float(seen) for id_, seen in connection.exec_driver_sql("SELECT id, seen FROM workers")}

    def close(self) -> None:
        for database in self._opened:
            database.close()

    def _open(self, address: Any) -> Database:
        database = Database(engine_for(address, pool_size=1), address)
        self._opened.append(database)
        return database


def _holder(status: str, executor: str | None, queue: str | None) -> str | None:
    if status == "PENDING":
        return executor or ""
    return queue.removeprefix(_OWN) if queue and queue.startswith(_OWN) else None


def _damage(connection: Any) -> str:
    found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    return "" if found == "ok" else found


def _size(path: Path) -> int:
    size = 0
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            size += os.stat(file).st_size
    return size
