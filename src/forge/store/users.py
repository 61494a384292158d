"""Rows of users: who may hold keys and own projects on a server that several people share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, or_, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing, inserts
from forge.store.schema import users


@dataclass(frozen=True, slots=True)
class User:
    """`disabled` is since when; the keys of a disabled user open nothing."""

    id: str
    name: str
    created: float
    disabled: float | None = None


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, id_: str, name: str, *, now: float) -> bool:
        """Whether the name was free. Names that differ only in capitals are one name."""
        row: dict[str, Any] = {"id": id_, "name": name, "created": now}
        with self._database.transaction() as connection:
            taken = {each.casefold() for each in connection.execute(select(users.c.name)).scalars()}
            if name.casefold() in taken:
                return False
            # On a database with several writers, another one may have taken it since it was read.
            return inserts(connection, insert_missing(users, row, self._database, "name"))

    def list(self) -> tuple[User, ...]:
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(select(users).order_by(users.c.name)))

    def find(self, name_or_id: str) -> User | None:
        query = select(users).where(or_(users.c.id == name_or_id, users.c.name == name_or_id))
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else _value(row)

    def disable(self, id_: str, *, now: float) -> bool:
        """Whether this call did it."""
        change = update(users).where(users.c.id == id_, users.c.disabled.is_(None)).values(disabled=now)
        with self._database.transaction() as connection:
            return connection.execute(change).rowcount == 1


def _value(row: Row[Any]) -> User:
    return User(row.id, row.name, row.created, row.disabled)
