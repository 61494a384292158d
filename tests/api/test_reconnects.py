"""Connections are cut and the server is killed in between: everybody hears the same, once and in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.soak.reconnects import cut_and_killed


@pytest.mark.slow
@pytest.mark.req("P-21", "X-04")
def test_clients_that_come_back_after_cuts_and_a_kill_have_all_heard_the_same(tmp_path: Path) -> None:
    done = cut_and_killed(tmp_path, clients=3, cuts=5, kills=1, seed=7)
    assert (done.cuts, done.kills) == (15, 1)
    assert done.events > 10
    assert done.found_gone > 0, "the kill was not noticed by anybody"
