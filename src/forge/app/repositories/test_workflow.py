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
from forge.app.repositories.test_runs import TestRunView, Wanted, checked_pattern, last_run, run_branch_tests
from forge.engine.errors import RunCancelled
from forge.engine.run import Run
from forge.errors import ForgeError
from forge.events import TestsEnded, TestsProgressed, TestsStarted
from forge.git import Repository
from forge.json_value import Json
from forge.store.runs import RunRow, RunState

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop

WORKFLOW = "branch_tests"
_UNFINISHED: tuple[RunState, ...] = ("queued", "waiting", "running")
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
class TestsOfBranch:
    __test__ = False

    last: TestRunView | None
    running: str | None
    """The id of the run that is under way."""
    since: float | None


def register(shop: Workshop) -> None:
    shop.engine.register(WORKFLOW, partial(_tests, shop))


@on_work_loop
async def begin_tests(shop: Workshop, who: Who, id_: str, branch: str, *, pattern: str, fresh: bool) -> TestsBegun:
    """Run the tests of a branch. Where they run already, it is that run."""
    repo = await asyncio.to_thread(repository, shop, who, id_, "run")
    await asyncio.to_thread(existing_branch, repo, branch)
    checked_pattern(pattern)
    subject = subject_of(repo, branch)
    after = await asyncio.to_thread(shop.events.last, subject.topic)
    if (row := await asyncio.to_thread(_unfinished, shop, repo, branch)) is not None:
        return TestsBegun(row.id, subject.topic, after, running=True)
    arguments = {"repository": str(repo.git_dir), "branch": branch, "pattern": pattern, "fresh": fresh}
    begun = await shop.engine.enqueue(TESTS, WORKFLOW, arguments, partition=subject.id, subject=subject)
    await asyncio.to_thread(audit, shop, who, "repository.run_tests", f"repository:{id_}", f"{branch}: {begun.id}")
    return TestsBegun(begun.id, subject.topic, after, running=False)


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
    wanted = Wanted(pattern=pattern, fresh=arguments["fresh"])
    try:
        done: Json = await run.step("tests", partial(_step, shop, run, repo, branch, wanted))
    except RunCancelled:
        run.emit(TestsEnded(run.id, branch, None, "cancelled", 0, 0, 0))
        raise
    except ForgeError as e:
        run.emit(TestsEnded(run.id, branch, None, "cannot run", 0, 0, 0, f"{e.message} {e.hint}".strip()))
        raise
    run.emit(TestsEnded(run.id, branch, **done))
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
        record = (await asyncio.shield(work)).record
    except asyncio.CancelledError:
        cancel.set()
        # The thread ends its command first: nothing of a cancelled run stays behind.
        await asyncio.wait({work})
        raise
    counts = {"passed": record.passed, "failed": record.failed, "skipped": record.skipped}
    return {"commit": record.commit, "outcome": str(record.outcome), **counts}


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
