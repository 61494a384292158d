"""Runs that need what only some processes have, such as a key: one of those takes them, or they wait."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.store.database import Database
from forge.store.runs import Runs
from tests.engine.conftest import ON_BOTH, Process, noted, wait_until

pytestmark = [pytest.mark.req("X-04", "X-05"), ON_BOTH]
StartProcess = Callable[..., Process]
RUNS = 6
KEY = {"count": 3, "needs": "key", "pause": 0.05}


def doers(process: Process) -> set[int]:
    return {int(line[3]) for line in noted(process.diary, "begin")}


def team(start_process: StartProcess, *has: str) -> list[Process]:
    made = [start_process(beat=0.1, serve=True, has=each) for each in has]
    for process in made:
        process.ready()
    wait_until(lambda: all(process.ask("serving") == len(has) - 1 for process in made))
    return made


@pytest.mark.parametrize("way", ["start_run", "enqueue"])
def test_only_those_who_have_it_begin_such_runs(start_process: StartProcess, way: str) -> None:
    keyless, first, second = team(start_process, "", "key", "key")
    wait_until(lambda: keyless.ask("offering", "key") == 2)
    for number in range(RUNS):
        if way == "start_run":
            first.ask(way, "steps", KEY, run_id=f"r{number}", anywhere=True)
        else:
            first.ask(way, "runs", "steps", KEY, run_id=f"r{number}")
    assert [second.ask("result", f"r{number}") for number in range(RUNS)] == [3] * RUNS
    assert doers(first) <= {first.pid, second.pid}
    assert len(noted(first.diary, "end")) == RUNS


def test_a_process_without_it_gives_what_it_is_asked_for_to_one_that_has_it(start_process: StartProcess) -> None:
    keyless, other = team(start_process, "", "key")
    wait_until(lambda: keyless.ask("offering", "key") == 1)
    keyless.ask("start_run", "steps", KEY, run_id="r", anywhere=True)
    assert keyless.ask("result", "r") == 3
    assert doers(other) == {other.pid}


def test_what_the_dead_leave_goes_to_those_who_have_it(start_process: StartProcess) -> None:
    first, keyless, last = team(start_process, "key", "", "key")
    wait_until(lambda: keyless.ask("offering", "key") == 2)
    for number in range(RUNS):
        first.ask("start_run", "steps", {**KEY, "count": 12}, run_id=f"r{number}")
    wait_until(lambda: len(noted(first.diary, "done")) >= RUNS)
    first.kill()
    assert [keyless.ask("result", f"r{number}") for number in range(RUNS)] == [66] * RUNS
    assert doers(last) == {first.pid, last.pid}


def test_a_queued_run_waits_with_its_reason_for_somebody_who_has_it(
    start_process: StartProcess, database: Database
) -> None:
    first, keyless = team(start_process, "key", "")
    slow = {"count": 20, "pause": 0.1}
    for number in range(3):  # the queue has room for three
        first.ask("enqueue", "runs", "steps", slow, run_id=f"slow{number}")
    for number in range(3):
        first.ask("enqueue", "runs", "steps", KEY, run_id=f"r{number}")
    first.kill()
    rows = Runs(database)
    waiting = [f"r{number}" for number in range(3)]
    wait_until(lambda: all((row := rows.get(id_)) and "it needs key" in row.waits_for for id_ in waiting))
    keyless.ask("enqueue", "runs", "steps", {"count": 1}, run_id="other")
    assert keyless.ask("result", "other") == 0
    assert not noted(keyless.diary, "end", "3")
    late = start_process(beat=0.1, serve=True, has="key")
    assert [late.ask("result", id_) for id_ in waiting] == [3, 3, 3]
    assert {int(line[3]) for line in noted(late.diary, "begin") if line[0] in waiting} == {late.pid}
    assert [(row.state, row.waits_for) for id_ in waiting if (row := rows.get(id_))] == [("done", "")] * 3


def test_a_run_that_waits_can_be_cancelled(start_process: StartProcess, database: Database) -> None:
    first, keyless = team(start_process, "key", "")
    first.ask("start_run", "steps", {**KEY, "count": 60}, run_id="r")
    wait_until(lambda: len(noted(first.diary, "done")) >= 2)
    first.kill()
    rows = Runs(database)
    wait_until(lambda: (row := rows.get("r")) and "it needs key" in row.waits_for)
    keyless.ask("cancel", "r")
    wait_until(lambda: (row := rows.get("r")) and row.state == "cancelled")


def test_a_run_that_nobody_could_ask_begins_where_it_was_asked_for(start_process: StartProcess) -> None:
    """What it does without is its own affair: a project halts and offers another model."""
    (alone,) = team(start_process, "")
    alone.ask("start_run", "steps", KEY, run_id="r", anywhere=True)
    assert alone.ask("result", "r") == 3
