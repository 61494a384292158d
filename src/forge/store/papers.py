"""Rows of working papers by project and key, and their bytes where they belong into the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import delete, exists, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import paper_bytes, papers

_TOGETHER = 500


@dataclass(frozen=True, slots=True)
class Paper:
    """`hash` is the SHA-256 of its bytes; `expires` is None while it is pinned."""

    project: str
    key: str
    hash: str
    size: int
    saved: float
    expires: float | None

    @property
    def pinned(self) -> bool:
        return self.expires is None


class Papers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, paper: Paper) -> None:
        """In place of what had the key; a pinned one stays pinned."""
        mine = (papers.c.project == paper.project, papers.c.key == paper.key)
        row: dict[str, Any] = asdict(paper)
        with self._database.transaction() as connection:
            connection.execute(insert_missing(papers, row, self._database, "project", "key"))
            found = connection.execute(select(papers.c.expires).where(*mine).with_for_update()).scalar_one()
            expires = None if found is None else paper.expires
            connection.execute(update(papers).where(*mine).values(**{**row, "expires": expires}))

    def get(self, project: str, key: str, *, now: float) -> Paper | None:
        return next(iter(self._select(now, papers.c.project == project, papers.c.key == key)), None)

    def list(self, project: str, *, now: float) -> tuple[Paper, ...]:
        return self._select(now, papers.c.project == project)

    def pin(self, project: str, key: str, *, expires: float | None) -> None:
        mine = (papers.c.project == project, papers.c.key == key)
        with self._database.transaction() as connection:
            connection.execute(update(papers).where(*mine).values(expires=expires))

    def delete(self, project: str, key: str | None = None) -> None:
        """One, or without a key all of a project."""
        mine = [papers.c.project == project] + ([papers.c.key == key] if key is not None else [])
        with self._database.transaction() as connection:
            connection.execute(delete(papers).where(*mine))

    def expire(self, now: float) -> Iterator[int]:
        """Delete the rows whose time is over, in parts."""
        over = select(papers.c.project, papers.c.key).where(papers.c.expires < now).limit(_TOGETHER)
        while True:
            with self._database.transaction() as connection:
                found = connection.execute(over).all()
                for row in found:
                    mine = (papers.c.project == row.project, papers.c.key == row.key)
                    connection.execute(delete(papers).where(*mine, papers.c.expires < now))
            if not found:
                return
            yield len(found)

    def in_use(self, hashes: Collection[str]) -> set[str]:
        query = select(papers.c.hash).where(papers.c.hash.in_(hashes)).distinct()
        with self._database.reading() as connection:
            return set(connection.execute(query).scalars())

    # Bytes in the database

    def put_bytes(self, digest: str, data: bytes, *, now: float) -> None:
        """`used` moves with every put, so that a sweep at the same moment leaves them."""
        row: dict[str, Any] = {"hash": digest, "used": now, "data": data}
        with self._database.transaction() as connection:
            connection.execute(insert_missing(paper_bytes, row, self._database, "hash"))
            connection.execute(update(paper_bytes).where(paper_bytes.c.hash == digest).values(used=now))

    def bytes_of(self, digest: str) -> bytes | None:
        query = select(paper_bytes.c.data).where(paper_bytes.c.hash == digest)
        with self._database.reading() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else bytes(found)

    def sweep_bytes(self, before: float) -> int:
        """Delete the bytes that no row names and that nobody put since `before`."""
        named = exists().where(papers.c.hash == paper_bytes.c.hash)
        with self._database.transaction() as connection:
            return connection.execute(delete(paper_bytes).where(paper_bytes.c.used < before, ~named)).rowcount

    def _select(self, now: float, *where: Any) -> tuple[Paper, ...]:
        alive = papers.c.expires.is_(None) | (papers.c.expires >= now)
        query = select(papers).where(*where, alive).order_by(papers.c.key)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(Paper(r.project, r.key, r.hash, r.size, r.saved, r.expires) for r in rows)
