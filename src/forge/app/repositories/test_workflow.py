"""The durable run behind the tests of a branch: begun, followed, cancelled, and gone on with after a crash."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forge.app.access.identity import Who, audit
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import TESTS
from forge.app.repositories.catalog import existing_branch, opened, repository, subject_of
from forge.app.repositories.test_runs import (
    SECONDS,
    TestRunView,
    Wanted,
    checked_pattern,
    last_run,
    run_branch_tests,
    run_with,
    shown_run,
)
from forge.engine.errors import RunCancelled, RunUnknown
from forge.engine.run import Run
from forge.errors import ForgeError
from forge.events import TestsEnded, TestsProgressed, TestsStarted
from forge.git import Repository
from forge.json_value import Json
from forge.store.runs import RunRow, RunState
from forge.tools.suites.recorded_run import RecordedRun

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop

WORKFLOW = "branch_tests"
_UNFINISHED: tuple[RunState, ...] = ("queued", "waiting", "running")
_ENDED = ("commit", "outcome", "passed", "failed", "skipped")
_OFTEN = 0.25
"""Seconds between two lines of progress."""


@dataclass(frozen=True, slots=True)
class TestsBegun:
    __test__ = False

    run: str
    topic: str
    after: int
    """The id of the last event of the branch before."""
    running: bool
    """It had begun before: the branch has one test run at a time."""


@dataclass(frozen=True, slots=True)
class TestRunState:
    __test__ = False

    end: TestRunView | None
    """None while it runs."""
    after: int


@dataclass(frozen=True, slots=True)
class TestsOfBranch:
    __test__ = False

    last: TestRunView | None
    running: str | None
    """The id of the run that is under way."""
    since: float | None


def register(shop: Workshop) -> None:
    shop.engine.register(WORKFLOW, partial(_tests, shop))


@on_work_loop
async def begin_tests(
    shop: Workshop, who: Who, id_: str, branch: str, *, pattern: str, fresh: bool, seconds: float = SECONDS
) -> TestsBegun:
    """Run the tests of a branch. Where they run already, it is that run."""
    repo = await asyncio.to_thread(repository, shop, who, id_, "run")
    await asyncio.to_thread(existing_branch, repo, branch)
    checked_pattern(pattern)
    subject = subject_of(repo, branch)
    after = await asyncio.to_thread(shop.events.last, subject.topic)
    if (row := await asyncio.to_thread(_unfinished, shop, repo, branch)) is not None:
        return TestsBegun(row.id, subject.topic, after, running=True)
    arguments = {
        "repository": str(repo.git_dir),
        "branch": branch,
        "pattern": pattern,
        "fresh": fresh,
        "seconds": seconds,
    }
    begun = await shop.engine.enqueue(TESTS, WORKFLOW, arguments, partition=subject.id, subject=subject)
    await asyncio.to_thread(audit, shop, who, "repository.run_tests", f"repository:{id_}", f"{branch}: {begun.id}")
    return TestsBegun(begun.id, subject.topic, after, running=False)


@on_work_loop
async def test_run(shop: Workshop, who: Who, id_: str, branch: str, run: str, *, wait: float) -> TestRunState:
    """How a run of the tests ended, after waiting so long for it. An error that kept it from ending is raised."""
    repo = await asyncio.to_thread(repository, shop, who, id_)
    subject = subject_of(repo, branch)
    if (await asyncio.to_thread(shop.engine.status, run)).subject != subject:
        raise RunUnknown(f"There is no test run {run} on this branch.", hint="Begin one: forge test.")
    await shop.engine.wait(run, wait)
    after = await asyncio.to_thread(shop.events.last, subject.topic)
    if not (await asyncio.to_thread(shop.engine.status, run)).has_ended:
        return TestRunState(None, after)
    return TestRunState(await result_of(shop, repo, branch, run), after)


async def result_of(shop: Workshop, repo: Repository, branch: str, run: str) -> TestRunView:
    """Waits for the run, whoever works on it."""
    done: Json = await shop.engine.handle(run).result()
    record = await asyncio.to_thread(run_with, repo, branch, str(done.get("key", "")))
    if record is None:
        raise RunUnknown("The record of this test run is gone.", hint="Run the tests again: forge test --again.")
    found = RecordedRun(record, reused=bool(done.get("reused")))
    return await asyncio.to_thread(shown_run, repo, branch, found)


@on_work_loop
async def cancel_tests(shop: Workshop, who: Who, id_: str, branch: str) -> bool:
    """End the test run of a branch, wherever it runs. False if there is none."""
    repo = await asyncio.to_thread(repository, shop, who, id_, "run")
    row = await asyncio.to_thread(_unfinished, shop, repo, existing_branch(repo, branch))
    if row is None:
        return False
    now = await shop.engine.cancel(row.id)
    if now.has_ended and now.started is None:
        # Nobody had taken it from the queue, so nobody else tells that it is over.
        over = TestsEnded(row.id, branch, None, "cancelled", 0, 0, 0)
        await asyncio.to_thread(shop.events.publish, row.subject.topic, over)
    await asyncio.to_thread(audit, shop, who, "repository.cancel_tests", f"repository:{id_}", f"{branch}: {row.id}")
    return True


def tests_on(shop: Workshop, who: Who, id_: str, branch: str) -> TestsOfBranch:
    """The last run that is on record, and the one that is under way."""
    repo = repository(shop, who, id_)
    row = _unfinished(shop, repo, existing_branch(repo, branch))
    since = None if row is None else row.started or row.created
    return TestsOfBranch(last_run(repo, branch), None if row is None else row.id, since)


def _unfinished(shop: Workshop, repo: Repository, branch: str) -> RunRow | None:
    rows = shop.engine.runs(states=_UNFINISHED, name=WORKFLOW, subject=subject_of(repo, branch), limit=1)
    return rows[0] if rows else None


async def _tests(shop: Workshop, run: Run, arguments: Json) -> Json:
    branch, pattern = arguments["branch"], arguments["pattern"]
    run.emit(TestsStarted(run.id, branch, pattern))
    repo = await asyncio.to_thread(opened, Path(arguments["repository"]))
    wanted = Wanted(pattern=pattern, fresh=arguments["fresh"], seconds=arguments.get("seconds", SECONDS))
    try:
        done: Json = await run.step("tests", partial(_step, shop, run, repo, branch, wanted))
    except RunCancelled:
        run.emit(TestsEnded(run.id, branch, None, "cancelled", 0, 0, 0))
        raise
    except ForgeError as e:
        run.emit(TestsEnded(run.id, branch, None, "cannot run", 0, 0, 0, f"{e.message} {e.hint}".strip()))
        raise
    run.emit(TestsEnded(run.id, branch, **{name: done[name] for name in _ENDED}))
    return done


async def _step(shop: Workshop, run: Run, repo: Repository, branch: str, wanted: Wanted) -> Json:
    cancel = threading.Event()
    tell = _Progress(asyncio.get_running_loop(), lambda text: run.emit(TestsProgressed(run.id, text)))
    work = asyncio.ensure_future(
        asyncio.to_thread(
            run_branch_tests,
            repo,
            branch,
            wanted,
            redact=shop.redactor.text,
            on_line=tell,
            cancel=cancel,
            environments=shop.environments,
        )
    )
    try:
        found = await asyncio.shield(work)
    except asyncio.CancelledError:
        cancel.set()
        # The thread ends its command first: nothing of a cancelled run stays behind.
        await asyncio.wait({work})
        raise
    record = found.record
    ended = {"commit": record.commit, "outcome": str(record.outcome)}
    counts = {"passed": record.passed, "failed": record.failed, "skipped": record.skipped}
    return {**ended, **counts, "key": record.key, "reused": found.reused}


class _Progress:
    """Lines of a runner, from its thread to the loop of the runs; so many that a person can read them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tell: Callable[[str], None]) -> None:
        self._loop = loop
        self._tell = tell
        self._told = 0.0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now - self._told >= _OFTEN:
            self._told = now
            self._loop.call_soon_threadsafe(self._tell, line)
