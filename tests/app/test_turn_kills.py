"""Turns whose process is killed at random moments: the short form of `script/soak turns`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from forge.git import Repository
from forge.git.refs.reservations import reservation
from forge.sessions.conversation import conversation
from tests.support.forked_commands import Forked
from tests.support.provider import message
from tests.support.repositories import repository
from tests.support.soak import evidence, turns

pytestmark = [pytest.mark.slow, pytest.mark.req("X-04", "G-06")]

PROGRAM = Path(sys.executable).with_name("forge")
RECOVERY = 5.0


def test_a_turn_killed_at_any_moment_goes_on_and_ends_in_one_commit(tmp_path: Path, forked: Forked) -> None:
    runs = turns.killed_in_lanes(forked, tmp_path, 8, lanes=2, seed=time.time_ns())
    assert sum(run.kills for run in runs) >= 8
    for run in runs:
        assert run.recovery_median < RECOVERY
        assert run.recovery_slowest < 3 * RECOVERY, "a machine may be busy, but not that busy"
        assert run.repeated == 0, "a request that was on its way was sent again"
        assert run.commands_again <= run.kills
    assert not any(run.paid_again for run in runs)


def test_the_next_message_finishes_the_interrupted_turn_first(tmp_path: Path, forked: Forked) -> None:
    """With the program as people run it, which has to load everything."""
    repo = repository(tmp_path, "ai/work")
    with turns.staged(forked, tmp_path, repo) as stage:
        chat = stage.chat("first1")
        chat.wait_for("ModelAnswered")
        assert chat.kill()
        asked = dict(stage.provider.counts)
        held = reservation(evidence.common_dir(repo), stage.branch)
        assert held is not None
        assert held.abandoned
        recorded = turns.records(stage.data)
        words = ["-C", str(repo), "chat", "--branch", stage.branch, "-m", message("second2"), "--json"]
        began = time.monotonic()
        process = subprocess.Popen([PROGRAM, *words], env=stage.environ, stdout=subprocess.PIPE)
        while (now := reservation(evidence.common_dir(repo), stage.branch)) is not None and now.since == held.since:
            assert process.poll() is None
            time.sleep(0.005)
        going_on = time.monotonic() - began
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
        turns.assert_turns(stage, ["first1", "second2"], ["first1", "second2"])
        for task, step in recorded:
            if step.startswith("model"):
                place = (task, int(step.removeprefix("model ")))
                assert stage.provider.counts[place] == asked[place] == 1
        assert going_on < 3 * RECOVERY


def test_the_first_turn_of_an_empty_repository_goes_on_too(tmp_path: Path, forked: Forked) -> None:
    empty = tmp_path / "empty"
    Repository.init(empty)
    with turns.staged(forked, tmp_path, repository(tmp_path)) as stage:
        words = ["-C", str(empty), "chat", "--branch", "ai/first", "--stream-json", "-m"]
        chat = stage.start(*words, message("first1"))
        chat.wait_for("ModelAnswered")
        assert chat.kill()
        chat = stage.start(*words, message("second2"))
        assert chat.wait() == 0, chat.complaints
        asked = [turn.asked for turn in conversation(Repository.open(empty).commit_vfs("ai/first"))]
        assert asked == [message("first1"), message("second2")]
