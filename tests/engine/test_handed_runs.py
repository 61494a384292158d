"""Runs that one process begins and another carries out, until it dies."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.engine import engine, handing
from forge.store.database import Database
from forge.store.runs import Runs
from forge.subjects import run_subject
from tests.engine.conftest import ON_BOTH, Process, branches, noted, put_to_sleep, wait_until
from tests.engine.process import To

StartProcess = Callable[..., Process]
pytestmark = pytest.mark.req("X-04", "X-05")


def pids(process: Process) -> list[int]:
    return [int(line[3]) for line in noted(process.diary, "begin")]


@ON_BOTH
def test_a_run_is_carried_out_by_who_it_is_handed_to_and_at_once(
    start_process: StartProcess, database: Database
) -> None:
    server = start_process(serve=True)
    server.ready()
    command = start_process(taker=To(server.pid))
    command.ready()
    began = time.monotonic()
    command.ask("start_run", "steps", {"count": 3}, run_id="r")
    assert command.ask("result", "r") == 3
    assert time.monotonic() - began < 3, "on a busy machine"
    command.ask("enqueue", "runs", "steps", {"count": 2}, run_id="queued")
    assert command.ask("result", "queued") == 1
    assert set(pids(server)) == {server.pid}
    assert branches(database, "run:r") == ["0", "1", "2"]


@ON_BOTH
def test_who_handed_a_run_over_goes_on_with_it_when_the_other_dies(
    start_process: StartProcess, database: Database
) -> None:
    server = start_process(serve=True)
    server.ready()
    command = start_process(taker=To(server.pid))
    command.ask("start_run", "steps", {"count": 6, "pause": 0.15}, run_id="r")
    wait_until(lambda: len(noted(server.diary, "done")) >= 2)
    server.kill()
    assert command.ask("result", "r") == 15
    had = pids(command)
    assert had == sorted(had, key=lambda pid: pid != server.pid)
    assert set(had) == {server.pid, command.pid}
    assert len(noted(command.diary, "end")) == 1
    assert branches(database, "run:r") == [str(number) for number in range(6)]
    command.ask("start_run", "steps", {"count": 1}, run_id="later")
    assert command.ask("result", "later") == 0
    assert pids(command)[-1] == command.pid, "nobody is there to hand it to"


def test_a_run_that_the_other_never_began_is_begun_here(start_process: StartProcess, tmp_path: Path) -> None:
    server = start_process(serve=True)
    server.ready()
    command = start_process(taker=To(server.pid))
    command.ready()
    put_to_sleep(server, tmp_path / "data")
    command.ask("start_run", "steps", {"count": 2}, run_id="r")
    server.kill()
    assert command.ask("result", "r") == 1
    assert set(pids(command)) == {command.pid}


def test_a_run_that_the_other_has_not_begun_can_be_cancelled(
    start_process: StartProcess, tmp_path: Path, database: Database
) -> None:
    server = start_process(serve=True)
    server.ready()
    command = start_process(taker=To(server.pid))
    command.ready()
    put_to_sleep(server, tmp_path / "data")
    command.ask("start_run", "steps", {"count": 2}, run_id="r")
    assert command.ask("cancel", "r") == "cancelled"
    server.signal(signal.SIGCONT)
    assert command.ask("result", "r") == {"error": "run_cancelled"}
    command.ask("start_run", "steps", {"count": 1}, run_id="after")
    assert command.ask("result", "after") == 0
    assert {line[0] for line in noted(command.diary, "begin")} == {"after"}
    row = Runs(database).get("r")
    assert row is not None
    assert row.state == "cancelled"


def test_who_hands_over_leaves_the_runs_of_the_dead_to_who_serves(start_process: StartProcess) -> None:
    server = start_process(serve=True)
    server.ready()
    dead = start_process()
    dead.ask("start_run", "steps", {"count": 4, "pause": 0.2}, run_id="r")
    command = start_process(taker=To(server.pid), beat=0.02)
    command.ready()
    wait_until(lambda: len(noted(dead.diary, "done")) >= 1)
    command.ask("take_over", "r")
    dead.kill()
    assert command.ask("result", "r") == 6
    assert set(pids(command)) == {dead.pid, server.pid}


def test_who_hands_over_many_runs_does_not_remember_those_that_ended(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing, "_REMEMBERED", 2)
    runs, here = Runs(database), engine.Engine(database)
    for name in ("ended", "at work", "waits"):
        runs.add(name, name="steps", subject=run_subject(name), queue=None, partition=None)
        here.take_over(name)
    runs.end("ended", "done")
    here._others._forget_ended()
    assert here._others.asked_for == {"at work", "waits"}
