"""Opening the database: where it lies, who may read it, which shape it has, and what is said when it fails."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, select, text

import forge.store.migrations
from forge.errors import InvalidInput
from forge.store.database import Database, parse, prepare_sqlite
from forge.store.errors import StoreAddressInvalid, StoreDamaged, StoreTooNew, StoreUnavailable
from forge.store.migrations import REVISIONS
from forge.store.schema import metadata, topics
from tests.support.postgres import Server


def test_the_migrations_lead_to_the_tables_that_the_code_uses(database: Database) -> None:
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "forge_schema"})
        assert compare_metadata(context, metadata) == []


def test_every_migration_is_known() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(forge.store.migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(reversed([script.revision for script in scripts.walk_revisions()])) == REVISIONS


@pytest.mark.req("X-05")
def test_several_that_open_it_at_once_find_it_made_once(url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        opened = list(pool.map(lambda _: Database.open(url), range(6)))
    for database in opened:
        with database.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM forge_schema")).scalar() == 1
        database.close()


def test_what_is_there_stays_when_it_is_opened_again(url: str) -> None:
    first = Database.open(url)
    with first.transaction() as connection:
        connection.execute(insert(topics).values(name="t", last=7))
    first.close()
    again = Database.open(url)
    with again.reading() as connection:
        assert connection.execute(select(topics.c.last)).scalar() == 7
    again.close()


def test_a_database_of_a_newer_forge_is_left_alone(database: Database, url: str) -> None:
    with database.transaction() as connection:
        connection.execute(text("UPDATE forge_schema SET version_num = '9999'"))
    with pytest.raises(StoreTooNew) as caught:
        Database.open(url)
    assert caught.value.code == "store_too_new"
    assert "update Forge" in caught.value.hint
    with database.reading() as connection:
        assert connection.execute(text("SELECT version_num FROM forge_schema")).scalar() == "9999"


@pytest.mark.req("X-04")
def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    def write_and_fail() -> None:
        with database.transaction() as connection:
            connection.execute(insert(topics).values(name="t", last=1))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    with database.reading() as connection:
        assert connection.execute(select(topics)).all() == []


@pytest.mark.req("X-06")
def test_the_file_is_its_owners_only(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/deep/data/forge.db")
    with database.transaction() as connection:
        connection.execute(insert(topics).values(name="t", last=1))
    files = sorted((tmp_path / "deep/data").iterdir())
    assert [file.name for file in files] == ["forge.db", "forge.db-shm", "forge.db-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "deep/data").stat().st_mode) == 0o700
    database.close()


@pytest.mark.req("X-04")
def test_sqlite_writes_are_on_disk_when_they_are_done(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    with database.transaction() as connection:
        pragmas = [connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")]
    assert pragmas == ["wal", 2]
    database.close()


@pytest.mark.req("X-04")
def test_what_is_opened_twice_in_a_process_keeps_its_log_when_another_process_ends(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/forge.db"
    first = Database.open(url)
    with first.transaction() as connection:
        connection.execute(insert(topics).values(name="before", last=1))
    # As a server that is asked how it is does, while it works.
    Database.open(url).close()
    assert _topics_seen_by_another_process(url) == ["before"]
    with first.transaction() as connection:
        connection.execute(insert(topics).values(name="after", last=1))
    assert _topics_seen_by_another_process(url) == ["after", "before"]
    first.close()


def _topics_seen_by_another_process(url: str) -> list[str]:
    script = """
import json, sys
from sqlalchemy import select
from forge.store.database import Database
from forge.store.schema import topics
database = Database.open(sys.argv[1])
with database.reading() as connection:
    print(json.dumps(sorted(connection.execute(select(topics.c.name)).scalars())))
database.close()
"""
    ended = subprocess.run([sys.executable, "-c", script, url], check=True, capture_output=True, text=True)
    seen: list[str] = json.loads(ended.stdout)
    return seen


def test_a_connection_goes_after_a_minute_with_all_that_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Database.open(f"sqlite:///{tmp_path / 'forge.db'}")) as database:

        def used() -> sqlite3.Connection:
            with database.transaction() as connection:
                connection.execute(insert(topics).values(name=str(uuid4()), last=1))
                found = connection.connection.dbapi_connection
            assert isinstance(found, sqlite3.Connection)
            return found

        first = used()
        assert used() is first
        later = time.time() + 61
        monkeypatch.setattr("sqlalchemy.pool.base.time.time", lambda: later)
        assert used() is not first
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            first.execute("SELECT 1")
        with database.reading() as connection:
            assert len(connection.execute(select(topics)).all()) == 3


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match=r"forge\.db") as caught:
        Database.open(f"sqlite:///{tmp_path}/file/forge.db")
    assert caught.value.hint


def test_a_file_that_is_no_database_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "forge.db").write_text("not a database, but somebody's text\n" * 100)
    with pytest.raises(StoreDamaged, match="not a database") as caught:
        Database.open(f"sqlite:///{tmp_path}/forge.db")
    assert "forge doctor --repair" in caught.value.hint
    assert (tmp_path / "forge.db").read_text().startswith("not a database, but")


def test_a_text_that_the_database_cannot_hold_is_no_trouble_of_the_database(postgres: Server) -> None:
    database = Database.open(postgres.new_database())
    with pytest.raises(InvalidInput, match="NUL"), database.reading() as connection:
        connection.execute(select(topics.c.last).where(topics.c.name == "a\0b"))
    database.close()


@pytest.mark.req("X-06")
def test_a_password_is_never_shown(postgres: Server) -> None:
    wrong = postgres.url("postgres").replace("secret-word", "hunter2hunter2")
    with pytest.raises(StoreUnavailable) as caught:
        Database.open(wrong)
    assert "hunter2" not in str(caught.value) + caught.value.hint
    assert "127.0.0.1" in str(caught.value)


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "sqlite:///relative.db", "no url", "sqlite:///:memory:"])
def test_an_address_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(StoreAddressInvalid) as caught:
        parse(url)
    assert "sqlite:" in caught.value.hint


def test_a_closed_database_says_so(database: Database) -> None:
    database.close()
    with pytest.raises(StoreUnavailable, match="closed"), database.reading():
        pass


@pytest.mark.req("X-04")
def test_several_that_are_the_first_at_once_all_open_it(tmp_path: Path) -> None:
    for number in range(30):
        path, together, troubles = tmp_path / f"{number}.db", threading.Barrier(6), list[str]()
        path.touch()

        def open_it(path: Path = path, together: threading.Barrier = together, troubles: list[str] = troubles) -> None:
            with closing(sqlite3.connect(path)) as connection:
                together.wait()
                try:
                    prepare_sqlite(connection)
                except sqlite3.OperationalError as error:
                    troubles.append(str(error))

        threads = [threading.Thread(target=open_it) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert troubles == []


@pytest.mark.req("X-03")
def test_a_sqlite_that_is_too_old_is_named_and_no_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    with pytest.raises(StoreUnavailable, match=r"SQLite 3\.34\.1 of this Python is too old") as caught:
        Database.open(f"sqlite:///{tmp_path}/forge.db")
    assert "SQLite 3.35 or newer" in caught.value.hint
    assert list(tmp_path.iterdir()) == []
