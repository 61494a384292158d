"""Rows that say whose a project or repository is, and with whom it is shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, select, union

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import owners, shares

Kind = Literal["project", "repository"]
Right = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a user stands to one thing: who owns it, if anybody, and what was granted to the user."""

    owner: str | None
    granted: Right | None


@dataclass(frozen=True, slots=True)
class Share:
    user: str
    granted: Right


class Ownership:
    def __init__(self, database: Database) -> None:
        self._database = database

    def standing(self, kind: Kind, id_: str, user: str) -> Standing:
        """One query that gives one row, whether the thing exists, is somebody else's, or neither."""
        owner = select(owners.c.user).where(owners.c.kind == kind, owners.c.id == id_).scalar_subquery()
        mine = (shares.c.kind == kind, shares.c.id == id_, shares.c.user == user)
        granted = select(shares.c.granted).where(*mine).scalar_subquery()
        with self._database.reading() as connection:
            row = connection.execute(select(owner.label("owner"), granted.label("granted"))).one()
        return Standing(row.owner, row.granted)

    def begin(self, kind: Kind, id_: str, user: str) -> None:
        """It is new, so whatever is known of an earlier one with the same id is void."""
        row: dict[str, Any] = {"kind": kind, "id": id_, "user": user}
        with self._database.transaction() as connection:
            _forget(connection, kind, id_)
            connection.execute(insert_missing(owners, row, self._database, "kind", "id"))

    def share(self, kind: Kind, id_: str, user: str, right: Right) -> None:
        """In place of what was granted before."""
        row: dict[str, Any] = {"kind": kind, "id": id_, "user": user, "granted": right}
        with self._database.transaction() as connection:
            connection.execute(delete(shares).where(*_is(kind, id_), shares.c.user == user))
            connection.execute(insert_missing(shares, row, self._database, "kind", "id", "user"))

    def unshare(self, kind: Kind, id_: str, user: str) -> bool:
        with self._database.transaction() as connection:
            gone = connection.execute(delete(shares).where(*_is(kind, id_), shares.c.user == user))
        return gone.rowcount == 1

    def shares_of(self, kind: Kind, id_: str) -> tuple[Share, ...]:
        query = select(shares.c.user, shares.c.granted).where(*_is(kind, id_)).order_by(shares.c.user)
        with self._database.reading() as connection:
            return tuple(Share(row.user, row.granted) for row in connection.execute(query))

    def seen_by(self, kind: Kind, user: str) -> frozenset[str]:
        """The ids of everything that is the user's or shared with the user."""
        own = select(owners.c.id).where(owners.c.kind == kind, owners.c.user == user)
        shared = select(shares.c.id).where(shares.c.kind == kind, shares.c.user == user)
        with self._database.reading() as connection:
            return frozenset(connection.execute(union(own, shared)).scalars())

    def forget(self, kind: Kind, id_: str) -> None:
        """It is gone: nobody owns it any more, and whoever makes it anew shares it with nobody."""
        with self._database.transaction() as connection:
            _forget(connection, kind, id_)


def _forget(connection: Connection, kind: Kind, id_: str) -> None:
    connection.execute(delete(owners).where(owners.c.kind == kind, owners.c.id == id_))
    connection.execute(delete(shares).where(*_is(kind, id_)))


def _is(kind: Kind, id_: str) -> tuple[Any, ...]:
    return (shares.c.kind == kind, shares.c.id == id_)
