"""Rows of repositories: which ones Forge manages, and where they are."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, bindparam, delete, select

from forge.store.database import Database
from forge.store.insertion import insert_missing, inserts
from forge.store.schema import repositories

# Made once: every request looks for one.
_FIND = select(repositories).where(repositories.c.id == bindparam("wanted"))


@dataclass(frozen=True, slots=True)
class RepositoryRow:
    id: str
    path: str
    name: str
    added: float


class Repositories:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, id_: str, *, path: str, name: str) -> bool:
        """Whether it is new. One that is there stays as it is; another one that was at `path` has gone."""
        row = {"id": id_, "path": path, "name": name, "added": time.time()}
        gone = delete(repositories).where(repositories.c.path == path, repositories.c.id != id_)
        with self._database.transaction() as connection:
            connection.execute(gone)
            return inserts(connection, insert_missing(repositories, row, self._database, "id"))

    def find(self, id_: str) -> RepositoryRow | None:
        with self._database.reading() as connection:
            row = connection.execute(_FIND, {"wanted": id_}).one_or_none()
        return None if row is None else _value(row)

    def list(self) -> tuple[RepositoryRow, ...]:
        """By name."""
        query = select(repositories).order_by(repositories.c.name, repositories.c.id)
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))

    def remove(self, id_: str) -> bool:
        with self._database.transaction() as connection:
            return connection.execute(delete(repositories).where(repositories.c.id == id_)).rowcount == 1


def _value(row: Row[Any]) -> RepositoryRow:
    return RepositoryRow(row.id, row.path, row.name, row.added)
