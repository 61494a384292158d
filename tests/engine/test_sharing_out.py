"""Runs are shared by those who serve: new ones, and those of the dead."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.conftest import ON_BOTH, Process, noted, put_to_sleep, wait_until

pytestmark = [pytest.mark.req("X-05"), ON_BOTH]
StartProcess = Callable[..., Process]
RUNS = 9


def shares(process: Process) -> Counter[str]:
    """How many runs each process began a step of."""
    pairs = {(line[0], line[3]) for line in noted(process.diary, "begin")}
    return Counter(pid for _, pid in pairs)


@pytest.fixture
def team(start_process: StartProcess) -> list[Process]:
    processes = [start_process(beat=0.1, serve=True) for _ in range(3)]
    for process in processes:
        process.ready()
    wait_until(lambda: all(process.ask("serving") == 2 for process in processes))
    return processes


def begin(process: Process, *, count: int, anywhere: bool) -> list[str]:
    arguments = {"count": count, "pause": 0.1}
    return [
        process.ask("start_run", "steps", arguments, run_id=f"r{number}", anywhere=anywhere) for number in range(RUNS)
    ]


def test_what_one_of_them_is_asked_for_is_begun_by_all(team: list[Process]) -> None:
    runs = begin(team[0], count=20, anywhere=True)
    wait_until(lambda: len({line[0] for line in noted(team[0].diary, "begin")}) == RUNS)
    assert [team[1].ask("result", run) for run in runs] == [190] * RUNS
    assert sorted(shares(team[0]).values()) == [3, 3, 3]


def test_who_is_alone_begins_it_itself(start_process: StartProcess) -> None:
    alone, command = start_process(beat=0.1, serve=True), start_process(beat=0.1)
    command.ready()
    runs = begin(alone, count=1, anywhere=True)
    assert [alone.ask("result", run) for run in runs] == [0] * RUNS
    assert shares(alone) == {str(alone.pid): RUNS}


def test_runs_of_a_dead_process_are_shared_by_those_who_are_left(team: list[Process]) -> None:
    runs = begin(team[0], count=15, anywhere=False)
    wait_until(lambda: len({line[0] for line in noted(team[0].diary, "begin")}) == RUNS)
    assert shares(team[0]) == {str(team[0].pid): RUNS}
    team[0].kill()
    assert [team[1].ask("result", run) for run in runs] == [105] * RUNS
    assert len(noted(team[1].diary, "end")) == RUNS
    left = {pid: number for pid, number in shares(team[1]).items() if pid != str(team[0].pid)}
    assert sorted(left.values()) == [4, 5]


def test_what_was_given_to_one_that_dies_before_it_begins_is_begun_by_another(
    team: list[Process], tmp_path: Path
) -> None:
    for process in team[1:]:
        if (tmp_path / "data").exists():
            put_to_sleep(process, tmp_path / "data")
        else:
            process.signal(signal.SIGSTOP)
    runs = begin(team[0], count=1, anywhere=True)
    team[1].kill()
    team[2].kill()
    assert [team[0].ask("result", run) for run in runs] == [0] * RUNS
    assert shares(team[0]) == {str(team[0].pid): RUNS}
