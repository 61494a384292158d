"""Rows of who did what: added, read, never changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from forge.store.database import Database
from forge.store.schema import audit


@dataclass(frozen=True, slots=True)
class Deed:
    """`key` is the id of the forge-key that was used, if one was."""

    id: int
    time: float
    user: str
    key: str | None
    action: str
    subject: str
    detail: str


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, *, time: float, user: str, key: str | None, action: str, subject: str, detail: str) -> None:
        with self._database.transaction() as connection:
            add_deed(connection, Deed(0, time, user, key, action, subject, detail))

    def list(self, *, before: int | None = None, limit: int = 100, user: str | None = None) -> tuple[Deed, ...]:
        """Newest first; `before` is the id of the last one seen."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.id < before)
        if user is not None:
            query = query.where(audit.c.user == user)
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))


def add_deed(connection: Connection, deed: Deed) -> None:
    """As part of a transaction. The database gives the id."""
    row = asdict(deed)
    del row["id"]
    connection.execute(insert(audit).values(row))


def _value(row: Row[Any]) -> Deed:
    return Deed(row.id, row.time, row.user, row.key, row.action, row.subject, row.detail)
