"""Brings a database to the shape this version of Forge works with, in one transaction, one process at a time."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from forge.store.errors import StoreTooNew
from forge.store.migrations import REVISIONS

_VERSION_TABLE = "forge_schema"
_LOCK = 0x666F726765  # "forge": any number that nobody else on the server uses


def migrate(connection: Connection) -> None:
    """Safe when several processes open the database at once: the first one works, the others wait and find it done."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    found = revision(connection)
    if found is not None and found not in REVISIONS:
        raise StoreTooNew(
            f"the database has revision {found}, which this version of Forge does not know",
            hint="update Forge, or use another database",
        )
    if found != REVISIONS[-1]:
        _upgrade(connection)


def revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
    return None if found is None else str(found)


def _upgrade(connection: Connection) -> None:
    from alembic.config import Config  # noqa: PLC0415 - needed once in the life of a database
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def to_head(current: object, context: object) -> object:
        del context
        return scripts._upgrade_revs("head", current)  # type: ignore[arg-type]  # noqa: SLF001 - as alembic's own command

    with EnvironmentContext(config, scripts, fn=to_head) as environment:
        environment.configure(connection=connection, version_table=_VERSION_TABLE)
        environment.run_migrations()
