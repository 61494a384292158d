"""Cursors: how far the operation log of each repository has been published. They move with what is published."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import operation_cursors as table


@dataclass(frozen=True, slots=True)
class Cursor:
    """The number of a segment of the log, a place in it, the mark of the line there, and when it was reached."""

    segment: int
    position: int
    mark: str
    moved: float


class OperationCursors:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, Cursor]:
        with self._database.reading() as connection:
            rows = connection.execute(select(table)).all()
        return {row.repository: Cursor(row.segment, row.position, row.mark, row.moved) for row in rows}

    def begin(self, repository: str, at: Cursor) -> None:
        """Where there is none yet: what happened before is not news."""
        row = {"repository": repository, **asdict(at)}
        with self._database.transaction() as connection:
            connection.execute(insert_missing(table, row, self._database, "repository"))

    def forget(self, repository: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(table).where(table.c.repository == repository))


def locked_cursor(connection: Connection, repository: str) -> Cursor | None:
    """Until the transaction ends nobody else publishes from this log. None where it is not followed."""
    row = connection.execute(select(table).where(table.c.repository == repository).with_for_update()).one_or_none()
    return None if row is None else Cursor(row.segment, row.position, row.mark, row.moved)


def move_cursor(connection: Connection, repository: str, to: Cursor) -> None:
    connection.execute(update(table).where(table.c.repository == repository).values(**asdict(to)))
