"""Cursors: how far the operation log of each repository has been published. They move with what is published."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import operation_cursors as table

Cursor = tuple[int, int]
"""The number of a segment of the log, and a place in it."""


class OperationCursors:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, Cursor]:
        with self._database.reading() as connection:
            return {row.repository: (row.segment, row.position) for row in connection.execute(select(table))}

    def begin(self, repository: str, at: Cursor) -> None:
        """Where there is none yet: what happened before is not news."""
        row = {"repository": repository, "segment": at[0], "position": at[1]}
        with self._database.transaction() as connection:
            connection.execute(insert_missing(table, row, self._database, "repository"))

    def forget(self, repository: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(table).where(table.c.repository == repository))


def locked_cursor(connection: Connection, repository: str) -> Cursor | None:
    """Until the transaction ends nobody else publishes from this log. None where it is not followed."""
    query = select(table.c.segment, table.c.position).where(table.c.repository == repository).with_for_update()
    row = connection.execute(query).one_or_none()
    return None if row is None else (row.segment, row.position)


def move_cursor(connection: Connection, repository: str, to: Cursor) -> None:
    where = update(table).where(table.c.repository == repository)
    connection.execute(where.values(segment=to[0], position=to[1]))
