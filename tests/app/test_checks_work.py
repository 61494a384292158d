"""Checks of work under way: the database, workers, runs without a process, projects, notices, answers kept."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.app.admin.checks import Check, CheckState, Place, work
from forge.app.process.server_lock import ServerRunning, only_server
from forge.app.process.workshop import Workshop, database_url
from forge.app.projects.actions import perform
from forge.engine import workers
from forge.pipeline.actions import Action
from forge.store import leases
from forge.store.database import Database
from forge.store.errors import StoreInUse
from forge.store.inspection import Inspection
from forge.store.leases import Lease, Leases
from forge.store.migrations import REVISIONS
from forge.store.outbox import Outbox
from forge.store.questions import Questions
from tests.support.postgres import Server, postgres  # noqa: F401 - a fixture
from tests.support.scripted_projects import Office, Script, new, office, script  # noqa: F401 - fixtures


@pytest.fixture
def data(office: Office) -> Path:  # noqa: F811
    return office.place / "data"


@pytest.fixture
def database(data: Path) -> Iterator[Database]:
    opened = Database.open(f"sqlite:///{data / 'forge.db'}")
    yield opened
    opened.close()


def place_of(office: Office, *, repair: bool = False) -> Place:  # noqa: F811
    settings = office.settings
    return Place(office.place, office.environ, settings, Inspection(database_url(settings)), repair=repair)


def told(check: Check) -> tuple[CheckState, str]:
    return check.state, check.detail


def test_without_a_database_there_is_nothing_to_find_and_none_is_made(office: Office, data: Path) -> None:  # noqa: F811
    place = place_of(office)
    checks = (work.database, work.workers, work.runs, work.projects, work.notices, work.answers)
    assert {check(place).state for check in checks} == {CheckState.OK}
    assert work.database(place).detail == "None yet; the first work makes it."
    assert not data.exists()


def test_a_sound_database_is_told_with_its_kind_revision_and_size(office: Office, database: Database) -> None:  # noqa: F811
    state, detail = told(work.database(place_of(office)))
    assert state is CheckState.OK
    assert detail.startswith(f"SQLite {sqlite3.sqlite_version}, WAL, revision {REVISIONS[-1]}, ")
    assert detail.endswith(" MiB")


def test_an_empty_database_is_brought_up_to_date_only_on_demand(office: Office, data: Path) -> None:  # noqa: F811
    data.mkdir()
    (data / "forge.db").touch()
    state, detail = told(work.database(place_of(office)))
    assert (state, detail.partition(": ")[2]) == (CheckState.OK, "empty; the first work makes its tables.")
    assert told(work.workers(place_of(office))) == (CheckState.OK, "None yet.")
    assert (data / "forge.db").stat().st_size < 10_000, "looking made tables"
    assert work.database(place_of(office, repair=True)).detail.endswith("brought up to date.")
    assert work.database(place_of(office)).state is CheckState.OK


def test_a_database_of_a_newer_forge_is_a_failure(office: Office, database: Database, data: Path) -> None:  # noqa: F811
    with sqlite3.connect(data / "forge.db") as connection:
        connection.execute("UPDATE forge_schema SET version_num = '9999'")
    connection.close()
    assert told(work.database(place_of(office))) == (CheckState.FAILED, "It has revision 9999, of a newer Forge.")


@pytest.mark.req("X-06")
def test_leases_of_dead_processes_are_removed_only_on_demand(
    office: Office,  # noqa: F811
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    rows = Leases(database)
    rows.take(
        Lease("mine", "here", workers._machine(), os.getpid(), str(workers._process_started(os.getpid())), 0, True)
    )
    rows.take(Lease("gone", "here", workers._machine(), gone.pid, "1", 0, True))
    now = time.time()
    monkeypatch.setattr(leases.time, "time", lambda: now - 3600)
    rows.take(Lease("silent", "elsewhere", "another machine", 7, "1", 0, True))
    monkeypatch.undo()
    assert told(work.workers(place_of(office))) == (
        CheckState.WARNING,
        "1 process at work. 2 leases of dead processes.",
    )
    assert all(lease.alive for lease in rows.list()), "looking declared somebody dead"
    mended = work.workers(place_of(office, repair=True))
    assert mended.state is CheckState.OK
    assert "Removed 2 leases of the dead" in mended.detail
    assert [lease.id for lease in rows.list()] == ["mine"]


async def interrupted(shop: Workshop, script: Script) -> str:  # noqa: F811
    """A project whose process ends in the middle of distilling."""
    project = await new(shop)
    script.gates["brain-dump-intake"] = asyncio.Event()
    pressed = await perform(shop, project, Action.DISTILL)
    async with asyncio.timeout(20):
        while not script.asked:
            await asyncio.sleep(0.01)
    assert pressed.run is not None
    return pressed.run


@pytest.mark.req("X-06")
def test_a_run_whose_process_is_gone_is_named_unless_it_waits_for_a_person(
    office: Office,  # noqa: F811
    script: Script,  # noqa: F811
    data: Path,
) -> None:
    run = office.do(lambda shop: interrupted(shop, script))
    check = work.runs(place_of(office))
    assert told(check) == (CheckState.WARNING, f"No process has {run}.")
    assert "forge worker" in check.hint
    assert work.projects(place_of(office)).detail == "1 project can be read."

    opened = Database.open(database_url(office.settings))
    Questions(opened).ask("q", run=run, text="Which one?")
    assert told(work.runs(place_of(office))) == (CheckState.OK, "1 under way; 1 run for a person.")
    Questions(opened).close("q", "answered", answer="this")
    opened.close()

    for file in data.glob("forge-runs.db*"):
        file.unlink()
    assert told(work.runs(place_of(office))) == (CheckState.WARNING, f"The engine does not know {run}.")

    for file in data.glob("forge.db*"):
        file.unlink()
    check = work.projects(place_of(office))
    assert told(check) == (CheckState.WARNING, "Work that was not begun: party.")
    assert check.hint == "`forge project resume party` begins it."


def test_a_project_that_cannot_be_read_is_named(office: Office, database: Database) -> None:  # noqa: F811
    torn = office.do(new)
    (torn.directory / "status.json").unlink()
    (torn.directory / "status.json").mkdir()
    check = work.projects(place_of(office))
    assert told(check) == (CheckState.WARNING, "party: status.json cannot be read: Is a directory.")
    assert check.hint.startswith(f"`git -C {torn.directory} status`")
    broken = office.place / "workspace" / "projects" / "broken"
    broken.mkdir(parents=True)
    (broken / "project.json").write_text("nonsense")
    assert work.projects(place_of(office)).detail.startswith("broken: ")


def test_notices_that_were_given_up_are_told(office: Office, database: Database) -> None:  # noqa: F811
    outbox = Outbox(database)
    outbox.add("a", "ntfy", {}, now=1)
    assert told(work.notices(place_of(office))) == (CheckState.OK, "1 on the way.")
    (entry,) = outbox.claim(1, 2)
    outbox.failed(entry.id, "refused", None)
    assert told(work.notices(place_of(office))) == (CheckState.WARNING, "1 could not be delivered by ntfy.")


def test_answers_that_nobody_needs_are_removed_only_on_demand(office: Office, database: Database, data: Path) -> None:  # noqa: F811
    for name, age in (("run-turn-old", 7200), ("run-turn-new", 0)):
        (data / "answers" / name).mkdir(parents=True)
        os.utime(data / "answers" / name, (time.time() - age,) * 2)
    assert told(work.answers(place_of(office))) == (CheckState.WARNING, "1 run left answers that nobody needs.")
    assert work.answers(place_of(office, repair=True)).state is CheckState.OK
    assert [each.name for each in (data / "answers").iterdir()] == ["run-turn-new"]


def test_a_database_server_is_told_with_its_version_and_its_clock(tmp_path: Path, postgres: Server) -> None:  # noqa: F811
    url = postgres.new_database()
    Database.open(url).close()
    place = place_of(Office.at(tmp_path / "office", f"database: {url}\n"))
    try:
        check = work.database(place)
        assert check.state is CheckState.OK
        assert check.detail.startswith("PostgreSQL ")
        clock = place.records.facts.clock
        assert clock is not None
        assert abs(clock) < 60
        assert {look(place).state for look in (work.workers, work.runs, work.notices)} == {CheckState.OK}
    finally:
        place.records.close()


def broken(file: Path) -> None:
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    file.write_bytes(b"no database" * 1000)


@pytest.mark.req("X-06")
def test_a_damaged_database_is_set_aside_only_on_demand_and_the_next_start_makes_a_new_one(
    office: Office,  # noqa: F811
    data: Path,
) -> None:
    Database.open(f"sqlite:///{data / 'forge.db'}").close()
    broken(data / "forge.db")
    before = work.database(place_of(office))
    assert told(before) == (CheckState.FAILED, f"{data / 'forge.db'} is damaged: file is not a database.")
    assert "forge doctor --repair" in before.hint
    assert work.workers(place_of(office)).detail == "Not looked at."
    place = place_of(office, repair=True)
    mended = work.database(place)
    assert mended.state is CheckState.WARNING
    assert "users and keys" in mended.detail
    assert "Projects and branches are safe" in mended.detail
    assert work.workers(place).detail == "None yet."
    (kept,) = data.glob("forge.db.damaged-*")
    assert kept.read_bytes().startswith(b"no database")
    assert not (data / "forge.db").exists()
    Database.open(f"sqlite:///{data / 'forge.db'}").close()
    assert work.database(place_of(office)).state is CheckState.OK


@pytest.mark.req("X-06")
def test_a_damaged_file_of_runs_is_set_aside_and_the_database_stays(office: Office, database: Database) -> None:  # noqa: F811
    runs = office.place / "data" / "forge-runs.db"
    broken(runs)
    assert work.engine(place_of(office)).state is CheckState.FAILED
    assert work.runs(place_of(office)).detail == "Not looked at."
    place = place_of(office, repair=True)
    assert f"{runs} was damaged" in work.engine(place).detail
    assert (work.engine(place).detail, work.runs(place).state) == ("None yet; the first work makes it.", CheckState.OK)
    assert work.database(place).state is CheckState.OK


def test_a_damaged_database_is_left_where_it_is_while_a_server_runs(office: Office, data: Path) -> None:  # noqa: F811
    data.mkdir()
    broken(data / "forge.db")
    with only_server(data), pytest.raises(ServerRunning):
        work.database(place_of(office, repair=True))
    assert [each.name for each in data.glob("forge.db*")] == ["forge.db"]


def test_a_damaged_database_is_left_where_it_is_while_another_process_has_it(office: Office, data: Path) -> None:  # noqa: F811
    data.mkdir()
    broken(data / "forge.db")
    lock = "import fcntl, sys; file = open(sys.argv[1], 'rb'); fcntl.lockf(file, fcntl.LOCK_SH); print(flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{lock}; input()", str(data / "forge.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreInUse):
            work.database(place_of(office, repair=True))
        other.communicate(b"\n")
    assert [each.name for each in data.glob("forge.db*")] == ["forge.db"]
