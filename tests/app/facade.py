"""A workshop whose engine sleeps, with a repository: for use cases that only touch git and SQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from forge.app.access.identity import ALL_SCOPES, LOCAL, Who, audited
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import add_repository, repository, subject_of
from forge.app.repositories.environments import Environments
from forge.app.repositories.operation_feed import OperationFeed
from forge.engine.engine import Engine
from forge.events import Event
from forge.git import Repository
from forge.notices.sender import Sender
from forge.sessions.redaction import Redactor
from forge.settings import load
from forge.store.costs import Costs
from forge.store.database import Database
from forge.store.events import Events
from forge.store.outbox import Outbox
from tests.conftest import MakeRepo

BO = Who("bo", "Bo Other", ALL_SCOPES)
READER = Who("local", "you", frozenset({"read"}))


@dataclass(frozen=True, slots=True)
class Place:
    shop: Workshop
    path: Path
    id: str

    @property
    def repo(self) -> Repository:
        return repository(self.shop, LOCAL, self.id)

    def told(self, branch: str) -> list[Event]:
        asyncio.run(self.shop.events.flush())
        return [each.event for each in self.shop.events.after(subject_of(self.repo, branch).topic)]

    def deeds(self) -> list[str]:
        """What the audit holds, oldest first."""
        return [deed.action for deed in reversed(audited(self.shop, LOCAL))]


@cache
def _new_database() -> bytes:
    """With its tables: made once, because that takes longer than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "forge.db"
        database = Database.open(f"sqlite:///{path}")
        database.close()
        return path.read_bytes()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with made_shop(tmp_path) as made:
        yield made


@contextmanager
def made_shop(place: Path) -> Iterator[Workshop]:
    (place / "data").mkdir(parents=True)
    (place / "data/forge.db").write_bytes(_new_database())
    environ = {"HOME": str(place), "FORGE_DATA_DIR": str(place / "data"), "PATH": "/usr/bin"}
    settings = load(environ)
    database = Database.open(f"sqlite:///{place / 'data/forge.db'}")
    events = Events(database)
    sender = Sender(Outbox(database), {}, warn=lambda *_: None)
    engine = Engine(database, events)
    known = Redactor([])
    feed = OperationFeed(database, events, known)
    yield Workshop(
        settings,
        environ,
        database,
        events,
        engine,
        Costs(database),
        known,
        sender,
        feed,
        Environments(settings, environ),
    )
    events.close()
    database.close()


@pytest.fixture
def place(shop: Workshop, make_repo: MakeRepo) -> Place:
    path = make_repo({"a.txt": "one\n", "b/c.txt": "two\n", "b/d.txt": "three\n", "picture.png": b"\x89PNG\0\1"})
    return Place(shop, path, add_repository(shop, LOCAL, path).id)
