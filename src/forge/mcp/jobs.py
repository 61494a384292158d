"""Jobs: calls that continue behind their request. A client looks at one, answers it, cancels it, until it is old."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from forge.errors import NotFound, Upstream

if TYPE_CHECKING:
    import mcp_types as types

State = Literal["working", "input_required", "completed", "failed", "cancelled"]
Work = Callable[["Job"], Awaitable[Any]]
KEPT = 2 * 3600.0
"""Seconds from its beginning that a job can be looked at."""
_MOST_OF_ONE = 100
_MOST = 2000


class JobMissing(NotFound):
    code = "job_missing"


class TooManyJobs(Upstream):
    """This caller has begun more long calls than Forge keeps for one."""

    code = "too_many_jobs"


class Job:
    """One call under way. `requests` are questions to the person that nobody answered yet, each by a key of its own."""

    def __init__(self, id_: str, owner: str) -> None:
        self.id = id_
        self.owner = owner
        self.created = self.updated = time.time()
        self.requests: dict[str, types.InputRequest] = {}
        self._asked = 0
        self._answers: dict[str, asyncio.Future[types.InputResponse]] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Future[Any] | None = None

    def start(self, work: Work) -> None:
        self._task = asyncio.ensure_future(work(self))
        self._task.add_done_callback(self._ended)

    @property
    def state(self) -> State:
        assert self._task is not None
        if not self._task.done():
            return "input_required" if self.requests else "working"
        if self._task.cancelled():
            return "cancelled"
        return "completed" if self._task.exception() is None else "failed"

    @property
    def is_over(self) -> bool:
        return self._task is not None and self._task.done()

    @property
    def error(self) -> BaseException | None:
        assert self._task is not None
        return self._task.exception() if self.state == "failed" else None

    def result(self) -> Any:
        """Of a job that is over; what broke it, breaks this."""
        assert self._task is not None
        return self._task.result()

    async def settled(self, seconds: float) -> bool:
        """Wait until it is over or asks its person; whether it is over."""
        until = time.monotonic() + seconds
        while not self.is_over and not self.requests and (left := until - time.monotonic()) > 0:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                break
        return self.is_over

    async def ask(self, *requests: types.InputRequest) -> list[types.InputResponse]:
        """Wait until the client has brought an answer to each; a key is never used twice."""
        keys = []
        for request in requests:
            self._asked += 1
            keys.append(f"question-{self._asked}")
            self.requests[keys[-1]] = request
            self._answers[keys[-1]] = asyncio.get_running_loop().create_future()
        self._notice()
        try:
            return [await self._answers[key] for key in keys]
        finally:
            for key in keys:
                self.requests.pop(key, None)
                del self._answers[key]

    def answer(self, responses: Mapping[str, types.InputResponse]) -> None:
        """What is not asked, or not asked any more, is left aside."""
        for key, response in responses.items():
            waiting = self._answers.get(key)
            if waiting is not None and not waiting.done():
                self.requests.pop(key, None)
                waiting.set_result(response)
        self._notice()

    def cancel(self) -> None:
        """The work is told; what has ended stays as it is."""
        assert self._task is not None
        self._task.cancel()

    def _ended(self, task: asyncio.Future[Any]) -> None:
        if not task.cancelled():
            task.exception()  # whoever looks at the job sees it; Python need not complain besides
        self._notice()

    def _notice(self) -> None:
        self.updated = time.time()
        self._changed.set()


class Jobs:
    """Those of one server. Each belongs to who began it; for others it does not exist."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def begin(self, owner: str, work: Work) -> Job:
        self._forget_old()
        own = sum(each.owner == owner for each in self._jobs.values())
        if own >= _MOST_OF_ONE or len(self._jobs) >= _MOST:
            raise TooManyJobs(
                "Too many long calls are kept just now.", hint="Wait for those that you began, then call again."
            )
        job = Job(secrets.token_hex(16), owner)
        job.start(work)
        self._jobs[job.id] = job
        return job

    def find(self, owner: str, id_: str) -> Job:
        self._forget_old()
        job = self._jobs.get(id_)
        if job is None or job.owner != owner:
            raise JobMissing("There is no such call.", hint="It is over for hours, or Forge restarted: call again.")
        return job

    def forget(self, job: Job) -> None:
        """One whose client never learned of it."""
        self._jobs.pop(job.id, None)

    def _forget_old(self) -> None:
        since = time.time() - KEPT
        for job in [each for each in self._jobs.values() if each.created < since]:
            job.cancel()
            del self._jobs[job.id]
