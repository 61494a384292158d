"""Both databases: every test that asks for `database` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.store.database import Database
from tests.support.postgres import postgres

__all__ = ["postgres"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/data/forge.db"
    return str(request.getfixturevalue("postgres").new_database())


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database.open(url)
    yield database
    database.close()
