"""The short form of `script/bench load`: what clients hear is whole and the same for all, however much goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.load import Crowd, loaded

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "P-21")]


def test_nothing_is_lost_or_doubled_and_nothing_fails_under_load(tmp_path: Path) -> None:
    crowd = Crowd(seconds=2, clients=20, turns=3, per_second=20, saves_per_second=4, size="1k", pace=0, warm_up=0)
    found = loaded(tmp_path, crowd)
    assert found.errors == ()
    assert found.unfinished == ()
    assert found.turns >= 1
    assert len(found.saves) == 8
    assert len(found.all_reads) == 32
    heard = found.heard
    assert heard.problems == ()
    assert (heard.clients, heard.lost, heard.doubled, heard.unlike, heard.broken) == (20, 0, 0, 0, 0)
    assert heard.recorded > 100
    assert heard.live > 100
