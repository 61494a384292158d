"""Rows of scratchpads: texts by key that agents keep for a project, or for one build of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import scratchpads


class Scratchpads:
    """`build` is empty for what belongs to the project as a whole."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: str, build: str, key: str) -> str | None:
        query = select(scratchpads.c.text).where(*_mine(project, build), scratchpads.c.key == key)
        with self._database.reading() as connection:
            found: str | None = connection.execute(query).scalar_one_or_none()
        return found

    def keys(self, project: str, build: str) -> tuple[str, ...]:
        query = select(scratchpads.c.key).where(*_mine(project, build)).order_by(scratchpads.c.key)
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def put(
        self, project: str, build: str, key: str, text: str, *, now: float, append: bool, longest: int, most: int
    ) -> str | None:
        """Write or append; the text that is kept then. None where it would grow too long, or with one key too many.

        `text` alone must be short enough.
        """
        row: dict[str, Any] = {"project": project, "build": build, "key": key, "text": "", "saved": now}
        one = (*_mine(project, build), scratchpads.c.key == key)
        with self._database.transaction() as connection:
            count = (
                select(func.count()).select_from(scratchpads).where(*_mine(project, build), scratchpads.c.key != key)
            )
            if connection.execute(count).scalar_one() >= most:
                return None
            connection.execute(insert_missing(scratchpads, row, self._database, "project", "build", "key"))
            before = connection.execute(select(scratchpads.c.text).where(*one).with_for_update()).scalar_one()
            after = "\n".join([before, text]) if append and before else text
            if len(after) > longest:
                return None
            connection.execute(update(scratchpads).where(*one).values(text=after, saved=now))
        return after

    def forget(self, project: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(scratchpads).where(scratchpads.c.project == project))


def _mine(project: str, build: str) -> tuple[Any, ...]:
    return (scratchpads.c.project == project, scratchpads.c.build == build)
