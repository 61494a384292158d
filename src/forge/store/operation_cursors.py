"""Cursors: how far the operation log of each repository has been published. They move with what is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, delete, select, update

from forge.events import Event
from forge.store.audit import Deed, add_deed
from forge.store.database import Database
from forge.store.events import Events
from forge.store.insertion import insert_missing
from forge.store.schema import operation_cursors as table


@dataclass(frozen=True, slots=True)
class Cursor:
    """The number of a segment of the log, a place in it, the mark of the line there, and when it was reached."""

    segment: int
    position: int
    mark: str
    moved: float


@dataclass(frozen=True, slots=True)
class News:
    """What was found behind a cursor, and the state of the cursor after it."""

    to: Cursor
    deeds: tuple[Deed, ...]
    events: tuple[tuple[str, Event], ...]


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

    def advance(self, events: Events, repository: str, read: Callable[[Cursor], News]) -> None:
        """Write what `read` finds behind the cursor, and move the cursor, in one transaction.

        Nobody else publishes from this log meanwhile. Where the log is not followed, nothing is read.
        """

        def write(connection: Connection) -> Iterable[tuple[str, Event]]:
            mine = table.c.repository == repository
            row = connection.execute(select(table).where(mine).with_for_update()).one_or_none()
            if row is None:
                return ()
            before = Cursor(row.segment, row.position, row.mark, row.moved)
            news = read(before)
            if replace(news.to, moved=before.moved) != before:
                connection.execute(update(table).where(mine).values(**asdict(news.to)))
            for deed in news.deeds:
                add_deed(connection, deed)
            return news.events

        events.append_with(write)
