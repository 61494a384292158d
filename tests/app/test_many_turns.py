"""Twenty branches with agents at once: in one process, and shared by several."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forge.agents.turn import TurnEnd
from forge.app.admin.settings import load_settings
from forge.app.process.workshop import open_workshop
from forge.app.sessions.messages import end_of
from forge.git import Repository
from forge.git.refs.reservations import reservations
from tests.support.forked_commands import Forked
from tests.support.soak import evidence
from tests.support.turn_crowd import assert_all_done, crowd, enqueue, environment, prepared

BRANCHES = 20
EACH = 2


def assert_tidy(repo: Repository) -> None:
    assert reservations(repo.common_dir) == ()
    assert not list(repo.refs.under("refs/forge/turns/"))
    evidence.assert_sound(repo.common_dir)
    evidence.assert_log_tells_all(repo.common_dir)


@pytest.mark.slow
@pytest.mark.req("P-14", "X-04")
@pytest.mark.asyncio
async def test_twenty_branches_work_at_once_and_none_waits_for_another(tmp_path: Path) -> None:
    found = await crowd(tmp_path, BRANCHES, EACH, together=True)
    repo = Repository.open(tmp_path / "repo")
    assert_all_done(repo, [one.end for one in found.finished], BRANCHES, EACH)
    assert max(found.latencies) < 5 * min(found.latencies) + 5, "one turn waited for the others"
    assert found.grown < 1000
    assert_tidy(repo)


@pytest.mark.slow
@pytest.mark.req("P-14", "X-04", "G-10")
@pytest.mark.asyncio
async def test_several_processes_share_the_turns_of_twenty_branches(tmp_path: Path, forked: Forked) -> None:
    repo = prepared(tmp_path, BRANCHES)
    environ = environment(tmp_path, EACH)
    async with open_workshop(load_settings(repo, environ), environ, serve=True) as shop:
        workers = [forked.start("worker", environ=environ) for _ in range(3)]
        while not all("Working" in worker.complaints for worker in workers):
            assert not any(worker.ended.is_set() for worker in workers), [worker.complaints for worker in workers]
            await asyncio.sleep(0.02)
        runs = [await enqueue(shop, repo, f"ai/{n}", number) for number in range(EACH) for n in range(BRANCHES)]
        ends: list[TurnEnd] = await asyncio.gather(*(end_of(shop, run) for run in runs))
        for worker in workers:
            worker.signal(signal.SIGTERM)
            status = await asyncio.to_thread(worker.wait)
            assert status == 0, worker.complaints
    assert_all_done(repo, ends, BRANCHES, EACH)
    with closing(sqlite3.connect(tmp_path / "data" / "forge-runs.db")) as records:
        shares = dict(records.execute("SELECT executor_id, count(*) FROM workflow_status GROUP BY 1").fetchall())
    print(shares)
    assert len(shares) > 1, "one process did everything"
    assert_tidy(repo)
