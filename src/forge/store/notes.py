"""Rows of notes: one text per project and user. The last save wins; the text it replaced is returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import notes


@dataclass(frozen=True, slots=True)
class Note:
    """`version` is 0 and `saved` None while nothing has been saved."""

    user: str
    text: str = ""
    version: int = 0
    saved: float | None = None


class Notes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: str, user: str) -> Note:
        return next((each for each in self.of(project) if each.user == user), Note(user))

    def of(self, project: str) -> tuple[Note, ...]:
        """All notes on a project, by the ids of their users."""
        query = select(notes).where(notes.c.project == project).order_by(notes.c.user)
        with self._database.reading() as connection:
            return tuple(Note(row.user, row.text, row.version, row.saved) for row in connection.execute(query))

    def save(self, project: str, user: str, text: str, *, now: float) -> tuple[Note, Note]:
        """Gives the note before and after. Saving the same text again changes nothing."""
        row: dict[str, Any] = {"project": project, "user": user, "version": 0, "text": "", "saved": now}
        mine = (notes.c.project == project, notes.c.user == user)
        with self._database.transaction() as connection:
            connection.execute(insert_missing(notes, row, self._database, "project", "user"))
            found = connection.execute(select(notes).where(*mine).with_for_update()).one()
            before = Note(user, found.text, found.version, found.saved)
            if text == before.text and before.version:
                return before, before
            after = Note(user, text, before.version + 1, now)
            values = {"text": text, "version": after.version, "saved": now}
            connection.execute(update(notes).where(*mine).values(**values))
        return before, after

    def forget(self, project: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(notes).where(notes.c.project == project))
