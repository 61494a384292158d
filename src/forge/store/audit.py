"""Rows of who did what: added, read, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, insert, select

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
        row: dict[str, Any] = {"time": time, "user": user, "key": key}
        row |= {"action": action, "subject": subject, "detail": detail}
        with self._database.transaction() as connection:
            connection.execute(insert(audit).values(row))

    def list(self, *, before: int | None = None, limit: int = 100, user: str | None = None) -> tuple[Deed, ...]:
        """Newest first; `before` is the id of the last one seen."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.id < before)
        if user is not None:
            query = query.where(audit.c.user == user)
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))


def _value(row: Row[Any]) -> Deed:
    return Deed(row.id, row.time, row.user, row.key, row.action, row.subject, row.detail)
