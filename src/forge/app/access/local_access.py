"""What a command needs to change something by itself: the database, its events and its audit; no engine, no agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from forge.app.access.identity import server_secret
from forge.app.process.known_secrets import redactor
from forge.app.process.workshop import database_url
from forge.sessions.redaction import Redactor
from forge.settings import Settings
from forge.store.database import Database
from forge.store.events import Events


@dataclass(frozen=True, slots=True)
class Access:
    settings: Settings
    environ: Mapping[str, str]
    database: Database
    events: Events
    """Recorded at once; a running server shows them to its clients."""
    redactor: Redactor
    secret: bytes


@contextmanager
def opened_access(settings: Settings, environ: Mapping[str, str]) -> Iterator[Access]:
    database = Database.open(database_url(settings))
    try:
        events = Events(database)
        try:
            yield Access(
                settings, environ, database, events, redactor(settings, environ), server_secret(settings.data_dir)
            )
        finally:
            events.close()
    finally:
        database.close()
