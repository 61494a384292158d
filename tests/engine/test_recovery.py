"""Processes that die, stop and come back: a run goes on elsewhere, no recorded step runs twice, each ends once."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.store.database import Database
from forge.store.questions import Questions
from forge.store.runs import Runs
from tests.engine.conftest import ON_BOTH, Process, branches, noted, put_to_sleep, wait_until

StartProcess = Callable[..., Process]
pytestmark = pytest.mark.req("X-04", "X-05")


@ON_BOTH
def test_a_killed_run_goes_on_in_the_next_process(start_process: StartProcess, database: Database) -> None:
    first = start_process()
    first.ask("start_run", "steps", {"count": 6, "pause": 0.15}, run_id="r")
    wait_until(lambda: len(noted(first.diary, "done")) >= 3)
    first.kill()
    before = len(noted(first.diary, "done"))
    began = time.monotonic()
    second = start_process(serve=True)
    second.ready()
    wait_until(lambda: any(line[3] == str(second.pid) for line in noted(second.diary, "begin")))
    assert time.monotonic() - began < 15, "with the start of Python on a busy machine"
    assert second.ask("result", "r") == 15
    begun = Counter(line[2] for line in noted(second.diary, "begin"))
    assert all(begun[str(number)] == 1 for number in range(before - 1)), "what was recorded does not run again"
    assert sum(begun.values()) <= 8, "at most the step that was under way, or whose record was, runs again"
    assert len(noted(second.diary, "end")) == 1
    assert branches(database, "run:r") == [str(number) for number in range(6)]
    assert second.close() == ""


def test_kills_at_random_moments_never_double_what_was_recorded(
    start_process: StartProcess, database: Database
) -> None:
    """Steps are short, so that kills hit everything in between: recording, publishing, ending."""
    chance = random.Random(7)
    process = start_process(serve=True)
    names = [f"r{number}" for number in range(4)]
    for name in names:
        process.ask("start_run", "steps", {"count": 12, "pause": 0.01}, run_id=name)
    kills = 0
    runs = Runs(database)
    while any(not row.has_ended for row in runs.list()) and kills < 6:
        time.sleep(chance.uniform(0.0, 0.12))
        process.kill()
        kills += 1
        process = start_process(serve=True)
        process.ready()
    for name in names:
        assert process.ask("result", name) == 66
        assert branches(database, f"run:{name}") == [str(number) for number in range(12)]
    lines = noted(process.diary, "begin")
    again = sum(count - 1 for count in Counter((line[0], line[2]) for line in lines).values())
    assert again <= kills * len(names), "one step of each run may be under way when its process is killed"


@ON_BOTH
def test_a_living_process_takes_over_at_once(start_process: StartProcess, database: Database) -> None:
    first, second = start_process(beat=0.2), start_process(beat=0.2, serve=True)
    first.ask("start_run", "steps", {"count": 40, "pause": 0.05}, run_id="r")
    second.ready()
    wait_until(lambda: len(noted(first.diary, "done")) >= 3)
    first.kill()
    took = wait_until(lambda: any(line[3] == str(second.pid) for line in noted(second.diary, "begin")), seconds=10)
    assert took < 5
    assert second.ask("result", "r") == sum(range(40))
    assert max(Counter(line[2] for line in noted(second.diary, "done")).values()) <= 2
    assert len(noted(second.diary, "end")) == 1


def test_two_that_find_a_dead_process_do_not_both_take_its_runs(start_process: StartProcess) -> None:
    first = start_process(beat=0.1)
    others = [start_process(beat=0.1, serve=serve) for serve in (True, False)]
    for number in range(6):
        first.ask("start_run", "steps", {"count": 6, "pause": 0.1}, run_id=f"r{number}")
    for other in others:
        other.ready()
    wait_until(lambda: len(noted(first.diary, "done")) >= 6)
    first.kill()
    for number in range(6):
        assert others[0].ask("result", f"r{number}") == 15
    lines = [line for line in noted(first.diary, "begin") if line[3] != str(first.pid)]
    assert max(Counter((line[0], line[2]) for line in lines).values()) == 1
    assert len(noted(first.diary, "end")) == 6


@ON_BOTH
def test_who_does_not_serve_takes_over_only_what_it_is_asked_for(start_process: StartProcess) -> None:
    """It may end before the run does, and what was under way would be done once more for nothing."""
    first = start_process(beat=0.1)
    for name in ("wanted", "left"):
        first.ask("start_run", "steps", {"count": 5, "pause": 0.2}, run_id=name)
    wait_until(lambda: len(noted(first.diary, "done")) >= 2)
    first.kill()
    alone = start_process(beat=0.1)
    alone.ready()
    alone.ask("take_over", "wanted")
    assert alone.ask("result", "wanted") == 10
    assert {line[0] for line in noted(alone.diary, "begin") if line[3] == str(alone.pid)} == {"wanted"}
    worker = start_process(beat=0.1, serve=True)
    assert worker.ask("result", "left") == 10


def test_a_process_that_slept_gives_up_what_others_took(
    start_process: StartProcess, database: Database, tmp_path: Path
) -> None:
    sleeper = start_process(beat=0.1, dead_after=0.3)
    sleeper.ask("start_run", "steps", {"count": 8, "pause": 0.3}, run_id="r")
    wait_until(lambda: len(noted(sleeper.diary, "done")) >= 2)
    put_to_sleep(sleeper, tmp_path / "data")
    other = start_process(beat=0.1, dead_after=0.3, serve=True)
    wait_until(lambda: any(line[3] == str(other.pid) for line in noted(other.diary, "begin")))
    sleeper.signal(signal.SIGCONT)
    assert other.ask("result", "r") == 28
    begun = [line for line in noted(other.diary, "begin") if line[3] == str(sleeper.pid)]
    assert len(begun) <= 3, "after its sleep it begins no further step"
    assert len(noted(other.diary, "end")) == 1
    # It works again, under another name.
    assert sleeper.ask("start_run", "steps", {"count": 2}, run_id="new") == "new"
    assert sleeper.ask("result", "new") == 1
    assert branches(database, "run:r") == [str(number) for number in range(8)]


@ON_BOTH
def test_a_question_outlives_its_process(start_process: StartProcess, database: Database) -> None:
    first = start_process()
    first.ask("start_run", "asks", {"timeout": 3600}, run_id="r")
    first.ask("start_run", "asks", {"timeout": 1.5}, run_id="late")
    questions = Questions(database)
    wait_until(lambda: len(questions.list_open()) == 2)
    asked = questions.get("r.q1")
    first.kill()
    second = start_process(serve=True)
    second.ready()
    assert questions.get("r.q1") == asked, "the deadline is the one it had"
    assert second.ask("answer", "r.q1", "yes") is True
    assert second.ask("answer", "r.q1", "no") == {"error": "question_closed"}
    assert second.ask("result", "r") == ["answered", "yes"]
    assert second.ask("result", "late") == ["timed_out", None]


def test_another_process_answers_and_cancels(start_process: StartProcess) -> None:
    first, second = start_process(), start_process()
    first.ask("start_run", "asks", {}, run_id="asked")
    first.ask("start_run", "steps", {"count": 1, "pause": 60}, run_id="long")
    wait_until(lambda: second.ask("questions") == ["asked.q1"])
    assert second.ask("answer", "asked.q1", "yes") is True
    assert second.ask("result", "asked") == ["answered", "yes"]
    assert second.ask("cancel", "long") == "running"
    assert second.ask("result", "long") == {"error": "run_cancelled"}
    assert first.close() == "", "nothing on the person's terminal"


@ON_BOTH
@pytest.mark.req("G-09")
def test_workers_share_a_queue_and_keep_one_job_per_branch(start_process: StartProcess) -> None:
    workers = [start_process(serve=True) for _ in range(2)]
    alone = start_process()
    for number in range(8):
        branch = f"b{number % 4}"
        by = alone if number == 3 else workers[0]
        by.ask(
            "enqueue", "branches", "steps", {"count": 1, "pause": 0.4}, run_id=f"{branch}-{number}", partition=branch
        )
    for number in range(8):
        assert workers[1].ask("result", f"b{number % 4}-{number}") == 0
    active: Counter[str] = Counter()
    for line in workers[0].diary.read_text().splitlines():
        run, what, *_ = line.split()
        branch = run.split("-")[0]
        active[branch] += {"begin": 1, "done": -1}.get(what, 0)
        assert active[branch] <= 1
    own = {line[3] for line in noted(alone.diary, "begin") if line[0] == "b3-3"}
    assert own == {str(alone.pid)}, "who does not serve runs its own, and only those"
    others = {line[3] for line in noted(alone.diary, "begin") if line[0] != "b3-3"}
    assert str(alone.pid) not in others


def test_nothing_is_left_in_the_working_directory(start_process: StartProcess, tmp_path: Path) -> None:
    process = start_process()
    process.ask("start_run", "steps", {"count": 1}, run_id="r")
    assert process.ask("result", "r") == 0
    assert process.close() == ""
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["forge-runs.db", "forge.db"]
