"""An outbox in a file, a server on this machine, and a notice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.plugins.roles import Notice
from forge.store.database import Database
from forge.store.outbox import Outbox
from tests.support.notice_server import Loopback, serving


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as loopback:
        yield loopback


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    yield database
    database.close()


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database)


@pytest.fixture
def notice() -> Notice:
    return Notice("20261115-ab12", "Wedding Plan", "polishing", "convergence_success", "0 critical, 1 medium, 3 minor.")
