"""A turn of the explorer survives a kill after each of its steps, and no answer is asked or paid for twice."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.explore.turn_process import REPLY, SAID, main
from tests.support.fork_context import FORKED

pytestmark = pytest.mark.req("W-09", "X-04")

STEPS = ["open", "ask explore-route", "prepare", "respond/model 1", "respond/model 2", "write 1"]


@pytest.mark.parametrize("dies_after", STEPS)
def test_a_turn_goes_on_after_a_kill_and_pays_once(tmp_path: Path, dies_after: str) -> None:
    for place in (dies_after, ""):
        ours, theirs = FORKED.Pipe()
        process = FORKED.Process(target=main, args=(str(tmp_path), place, theirs))
        process.start()
        theirs.close()
        process.join(200)
        assert process.exitcode == (-signal.SIGKILL if place else 0)
    chat, assumptions, problem, requests = ours.recv()
    assert chat[1:] == [SAID, REPLY]
    assert (assumptions, problem) == (["A1"], "Orders are typed twice.")
    assert sorted((tmp_path / "diary").read_text().splitlines()) == [
        "asked respond 1",
        "asked respond 2",
        "asked route",
    ]
    assert requests == 3
