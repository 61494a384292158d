"""What one process remembers of runs that others execute, and what it continues when they die."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.engine import engine, peers
from forge.store.database import Database
from forge.store.runs import Runs
from forge.subjects import run_subject
from tests.engine.conftest import ON_BOTH, Process, branches, noted, wait_until

StartProcess = Callable[..., Process]
pytestmark = pytest.mark.req("X-04", "X-05")


@ON_BOTH
def test_a_command_continues_the_run_that_it_asked_for_when_the_server_dies(
    start_process: StartProcess, database: Database
) -> None:
    server = start_process(serve=True)
    server.ask("start_run", "steps", {"count": 6, "pause": 0.15}, run_id="r")
    command = start_process()
    command.ask("take_over", "r")
    wait_until(lambda: len(noted(server.diary, "done")) >= 2)
    server.kill()
    assert command.ask("result", "r") == 15
    had = [int(line[3]) for line in noted(command.diary, "begin")]
    assert had == sorted(had, key=lambda pid: pid != server.pid)
    assert set(had) == {server.pid, command.pid}
    assert len(noted(command.diary, "end")) == 1
    assert branches(database, "run:r") == [str(number) for number in range(6)]


def test_runs_that_ended_are_not_remembered(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "_REMEMBERED", 2)
    runs, here = Runs(database), engine.Engine(database)
    for name in ("ended", "at work", "waits"):
        runs.add(name, name="steps", subject=run_subject(name), queue=None, partition=None)
        here.take_over(name)
    runs.end("ended", "done")
    here._peers._forget_ended()
    assert here._peers.asked_for == {"at work", "waits"}
