"""Rows of forge-keys: never the key itself, only its keyed hash and what a person recognises it by."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, insert, or_, select, update

from forge.store.database import Database
from forge.store.schema import keys, users

_NOTED = 60.0
"""When a key was used is written down at most once in so many seconds."""
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Key:
    id: str
    user: str
    user_name: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created: float
    expires: float | None
    last_used: float | None
    revoked: float | None
    user_disabled: float | None
    project: str | None = None
    """The one project that it opens, and the repository in which that is built."""
    repository: str | None = None

    def opens(self, now: float) -> bool:
        """Whether it is good for anything at this moment."""
        expired = self.expires is not None and self.expires <= now
        return self.revoked is None and self.user_disabled is None and not expired


@dataclass(frozen=True, slots=True)
class HashedKey:
    """A key with the hash that is kept of it, to be compared once more by whoever looked it up."""

    key: Key
    hash: str


class KeyRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        id_: str,
        *,
        user: str,
        name: str,
        prefix: str,
        hash_: str,
        scopes: Collection[str],
        now: float,
        expires: float | None,
        project: str | None = None,
        repository: str | None = None,
    ) -> None:
        row: dict[str, Any] = {"id": id_, "user": user, "name": name, "prefix": prefix, "hash": hash_}
        row |= {"scopes": " ".join(sorted(scopes)), "created": now, "expires": expires}
        row |= {"project": project, "repository": repository}
        with self._database.transaction() as connection:
            connection.execute(insert(keys).values(row))

    def list(self, *, user: str | None = None) -> tuple[Key, ...]:
        query = _joined().order_by(keys.c.created, keys.c.id)
        if user is not None:
            query = query.where(keys.c.user == user)
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))

    def by_hash(self, hash_: str) -> HashedKey | None:
        return self._first(keys.c.hash == hash_)

    def by_id(self, id_: str) -> HashedKey | None:
        return self._first(keys.c.id == id_)

    def revoke(self, id_: str, *, now: float) -> bool:
        """Whether this call did it."""
        change = update(keys).where(keys.c.id == id_, keys.c.revoked.is_(None)).values(revoked=now)
        with self._database.transaction() as connection:
            return connection.execute(change).rowcount == 1

    def used(self, id_: str, *, now: float, unless_since: float) -> None:
        """Note when it was used last, unless that has been noted since then. A note from the future is replaced."""
        old = or_(keys.c.last_used.is_(None), keys.c.last_used <= unless_since, keys.c.last_used > now)
        with self._database.transaction() as connection:
            connection.execute(update(keys).where(keys.c.id == id_, old).values(last_used=now))

    def _first(self, condition: ColumnElement[bool]) -> HashedKey | None:
        with self._database.reading() as connection:
            row = connection.execute(_joined().where(condition)).first()
        return None if row is None else HashedKey(_value(row), row.hash)


class KeptKeys:
    """Looks keys up and believes what it found for `fresh` seconds. Gives only keys that open something now."""

    def __init__(self, rows: KeyRows, *, fresh: float, now: Callable[[], float]) -> None:
        self._rows = rows
        self._fresh = fresh
        self._now = now
        self._known: dict[str, tuple[float, Key]] = {}
        self._forgotten = 0
        self._lock = threading.Lock()

    def by_hash(self, hash_: str) -> Key | None:
        kept = self.remembered(hash_)
        if kept is not None:
            return kept
        forgotten = self._forgotten
        found = self._rows.by_hash(hash_)
        # The database compares byte by byte; this one takes the same time wherever two hashes differ.
        fits = found is not None and hmac.compare_digest(found.hash, hash_)
        return self._seen(hash_, found, forgotten) if fits else None

    def by_id(self, id_: str) -> Key | None:
        kept = self.remembered(id_)
        if kept is not None:
            return kept
        forgotten = self._forgotten
        return self._seen(id_, self._rows.by_id(id_), forgotten)

    def remembered(self, mark: str) -> Key | None:
        """By hash or id, without asking the database."""
        then, key = self._known.get(mark, (0.0, None))
        now = self._now()
        # Where the clock was set back, nothing is fresh.
        return key if key is not None and 0 <= now - then < self._fresh and key.opens(now) else None

    def forget(self) -> None:
        with self._lock:
            self._forgotten += 1
            self._known.clear()

    def _seen(self, mark: str, found: HashedKey | None, forgotten: int) -> Key | None:
        """`forgotten` is as it was before the database was asked."""
        now = self._now()
        if found is None or not found.key.opens(now):
            return None
        key = found.key
        if key.last_used is None or not now - _NOTED < key.last_used <= now:
            self._rows.used(key.id, now=now, unless_since=now - _NOTED)
        with self._lock:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            # What was read before a revocation must not be believed after it.
            if forgotten == self._forgotten:
                self._known[mark] = (now, key)
        return key


def _joined() -> Select[Any]:
    owner = (users.c.name.label("user_name"), users.c.disabled.label("user_disabled"))
    return select(keys, *owner).join(users, users.c.id == keys.c.user)


def _value(row: Row[Any]) -> Key:
    return Key(
        id=row.id,
        user=row.user,
        user_name=row.user_name,
        name=row.name,
        prefix=row.prefix,
        scopes=tuple(row.scopes.split()),
        created=row.created,
        expires=row.expires,
        last_used=row.last_used,
        revoked=row.revoked,
        user_disabled=row.user_disabled,
        project=row.project,
        repository=row.repository,
    )
