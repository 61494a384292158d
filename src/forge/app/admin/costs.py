"""What models have taken, from the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from forge.app.process.workshop import database_url
from forge.settings import Settings
from forge.store.costs import Costs, Grouping, Spent
from forge.store.database import Database


def spent_by(settings: Settings, what: str, *, repository: str | None, since: float) -> dict[str, Spent]:
    with _costs(settings) as costs:
        return costs.by(cast("Grouping", what), **_where(repository, since))


def spent_in_total(settings: Settings, *, repository: str | None, since: float) -> Spent:
    with _costs(settings) as costs:
        return costs.total(**_where(repository, since))


def _where(repository: str | None, since: float) -> dict[str, object]:
    return {"since": since, **({"repository": repository} if repository else {})}


@contextmanager
def _costs(settings: Settings) -> Iterator[Costs]:
    database = Database.open(database_url(settings))
    try:
        yield Costs(database)
    finally:
        database.close()
