"""What model calls took: one row per call, and sums over runs, branches, sessions, days and models."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from sqlalchemy import ColumnElement, Row, func, select

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import costs

Grouping = Literal["run", "repository", "branch", "session", "day", "model"]


class UsageLike(Protocol):
    """The counts of `forge.sessions.messages.Usage`."""

    @property
    def input_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def cache_read_tokens(self) -> int: ...
    @property
    def cache_write_tokens(self) -> int: ...
    @property
    def requests(self) -> int: ...
    @property
    def cost(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Spent:
    """A sum. `cost` is None where not one price was known; `unpriced` counts the calls without a price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    requests: int = 0
    cost: float | None = None
    unpriced: int = 0


class Costs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self,
        run: str,
        step_key: str,
        *,
        repository: str,
        branch: str,
        model: str,
        usage: UsageLike,
        time: float,
        session: str = "",
    ) -> None:
        """Once per run and step: a call that is recorded again, as after a crash, is counted once."""
        row: dict[str, Any] = {
            "run": run,
            "step": step_key,
            "repository": repository,
            "branch": branch,
            "session": session,
        }
        row |= {"model": model, "time": time, "day": day_of(time)}
        row |= {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        row |= {"cache_read_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
        row |= {"requests": usage.requests, "cost": usage.cost}
        with self._database.transaction() as connection:
            connection.execute(insert_missing(costs, row, self._database, "run", "step"))

    def total(self, **where: Any) -> Spent:
        """`run`, `repository`, `branch`, `session`, `day`, `model`, `since` and `until` (seconds) narrow it down."""
        with self._database.reading() as connection:
            return _spent(connection.execute(select(*_SUMS).where(*_conditions(where))).one())

    def by(self, grouping: Grouping, **where: Any) -> dict[str, Spent]:
        """The same, apart for each run, branch, … in the order of their names."""
        column = costs.c[grouping]
        query = select(column.label("key"), *_SUMS).where(*_conditions(where)).group_by(column).order_by(column)
        with self._database.reading() as connection:
            return {row.key: _spent(row) for row in connection.execute(query)}

    def by_step(self, run: str) -> dict[str, Spent]:
        """Of one run, apart for each of its steps."""
        query = select(costs.c.step.label("key"), *_SUMS).where(costs.c.run == run).group_by(costs.c.step)
        with self._database.reading() as connection:
            return {row.key: _spent(row) for row in connection.execute(query)}


def day_of(time: float) -> str:
    """The day in UTC, as in `2026-11-15`: the same for everybody who shares the database."""
    return datetime.fromtimestamp(time, UTC).date().isoformat()


_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "requests")
_SUMS = (
    *(func.coalesce(func.sum(costs.c[name]), 0).label(name) for name in _COUNTS),
    func.sum(costs.c.cost).label("cost"),
    (func.count() - func.count(costs.c.cost)).label("unpriced"),
)


def _conditions(where: dict[str, Any]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for name, value in where.items():
        match name:
            case "since":
                conditions.append(costs.c.time >= value)
            case "until":
                conditions.append(costs.c.time < value)
            case _:
                conditions.append(costs.c[name] == value)
    return conditions


def _spent(row: Row[Any]) -> Spent:
    counts = {name: int(getattr(row, name)) for name in _COUNTS}
    return Spent(**counts, cost=None if row.cost is None else float(row.cost), unpriced=row.unpriced)
