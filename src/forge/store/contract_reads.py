"""Rows of who read which contract: role, run, build, part, tokens and time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import contract_reads


@dataclass(frozen=True, slots=True)
class ContractRead:
    run: str
    place: str
    """Where in its run; the same call is counted once, however often the run is replayed."""
    project: str
    role: str
    contract: str
    tokens: int
    time: float
    build: str = ""
    """Empty outside of a build."""
    part: str = ""
    """Empty where all of it was read."""
    source: str = "project"
    cached: bool = False
    """Whether the build had read the same before."""


@dataclass(frozen=True, slots=True)
class ReadSum:
    role: str
    contract: str
    reads: int
    tokens: int
    last: float


class ContractReads:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, read: ContractRead) -> None:
        with self._database.transaction() as connection:
            connection.execute(insert_missing(contract_reads, asdict(read), self._database, "run", "place"))

    def list(
        self, project: str, *, build: str | None = None, run: str | None = None, limit: int = 100, after: int = 0
    ) -> tuple[ContractRead, ...]:
        """Newest first."""
        table = contract_reads
        query = select(table).where(*_where(project, build, run)).order_by(table.c.time.desc(), table.c.place.desc())
        with self._database.reading() as connection:
            rows = connection.execute(query.offset(after).limit(limit)).mappings().all()
        return tuple(ContractRead(**row) for row in rows)

    def sums(self, project: str, *, build: str | None = None, run: str | None = None) -> tuple[ReadSum, ...]:
        """By role and contract."""
        by = (contract_reads.c.role, contract_reads.c.contract)
        sums: tuple[ColumnElement[Any], ...] = (
            func.count().label("reads"),
            func.sum(contract_reads.c.tokens).label("tokens"),
            func.max(contract_reads.c.time).label("last"),
        )
        query = select(*by, *sums).where(*_where(project, build, run)).group_by(*by).order_by(*by)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(ReadSum(row.role, row.contract, row.reads, int(row.tokens), row.last) for row in rows)

    def forget(self, project: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(contract_reads).where(contract_reads.c.project == project))


def _where(project: str, build: str | None, run: str | None) -> list[ColumnElement[bool]]:
    where = [contract_reads.c.project == project]
    where += [contract_reads.c.build == build] if build is not None else []
    return [*where, contract_reads.c.run == run] if run is not None else where
