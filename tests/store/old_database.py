"""A database as an earlier version of Forge left it."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

import forge.store.migrations
from forge.store.database import Database


def open_at(url: str, revision: str, monkeypatch: pytest.MonkeyPatch) -> Database:
    """Opened with the tables of that revision, which it keeps until somebody opens it as usual."""
    config = Config()
    config.set_main_option("script_location", str(Path(forge.store.migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def migrate(connection: Connection) -> None:
        def to_revision(current: object, context: object) -> object:
            del context
            return scripts._upgrade_revs(revision, current)  # type: ignore[arg-type]

        with EnvironmentContext(config, scripts, fn=to_revision) as environment:
            environment.configure(connection=connection, version_table="forge_schema")
            environment.run_migrations()

    with monkeypatch.context() as patch:
        patch.setattr("forge.store.database.migrate", migrate)
        return Database.open(url)
