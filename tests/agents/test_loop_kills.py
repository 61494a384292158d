"""Two loops in one durable run, whose process is killed between two steps: nothing is asked, done or paid twice."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.agents.loop_process import LOOPS, main
from tests.support.fork_context import FORKED

pytestmark = pytest.mark.req("X-04")
STEPS = [f"{scope}/model {number}" for scope in LOOPS for number in (1, 2)]


@pytest.mark.parametrize("dies_at", STEPS)
def test_a_run_with_two_loops_goes_on_and_counts_both(tmp_path: Path, dies_at: str) -> None:
    for place in (dies_at, ""):
        ours, theirs = FORKED.Pipe()
        process = FORKED.Process(target=main, args=(str(tmp_path), place, theirs))
        process.start()
        theirs.close()
        process.join(200)  # the first one waits until Forge is loaded for all of them
        assert process.exitcode == (-signal.SIGKILL if place else 0)
    result, cost, requests = ours.recv()
    assert result == {"values": [{"scope": scope} for scope in LOOPS]}
    assert (cost, requests) == (12.0, 4)
    diary = sorted((tmp_path / "diary").read_text().splitlines())
    assert diary == sorted([f"{what} {scope}" for scope in LOOPS for what in ("asked", "asked", "spent")])
