"""The runs that this process has: carried out, stopped, woken, and ended on record."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from forge.engine.encoding import error_to_json, plain
from forge.engine.errors import EngineMisused, RunCancelled, RunFailed
from forge.engine.run import Run, cancelled
from forge.errors import ForgeError, Upstream
from forge.json_value import Json
from forge.store.events import Events
from forge.store.questions import Questions
from forge.store.runs import Room, Runs, RunState
from forge.subjects import Subject, SubjectKind, run_subject, subject_of_topic

if TYPE_CHECKING:
    from forge.engine.durable import Durable

T = TypeVar("T")
Workflow = Callable[[Run, Json], Awaitable[Any]]

Lacks = Callable[[Json], str]
"""What this process lacks to continue with a run that was begun with these arguments; empty if nothing."""
Needs = Callable[[Json], Collection[str]]
"""The names of what a run with these arguments needs: providers with a key, programs."""

HANDED_TO = "handed_to"
BEGUN_BY = "begun_by"
_WATCH = 0.2
_AGAIN = 0.1


class Execution:
    def __init__(
        self,
        runs: Runs,
        questions: Questions,
        events: Events,
        *,
        queues: Mapping[str, Room],
        may_go_on: Callable[[], Awaitable[bool]],
    ) -> None:
        self._runs = runs
        self.questions = questions
        self.events = events
        self.workflows: dict[str, Workflow] = {}
        self.requirements: dict[str, tuple[Lacks, Needs]] = {}
        self.stays: Callable[[Run, str, Json], Awaitable[bool]] | None = None
        """Asked before a run begins here: False if another process has it now."""
        self.closing = False
        self._queues = queues
        self._may_go_on = may_go_on
        self._durable: Durable | None = None
        self.handed: dict[str, str] = {}
        """To whom the runs that are here were handed by the process that began them."""
        self._active: dict[str, tuple[Run, asyncio.Task[Any]]] = {}
        self._stopped: set[Run] = set()
        self._ended: dict[str, asyncio.Event] = {}
        self._waiting: dict[str, asyncio.Event] = {}

    @property
    def durable(self) -> Durable:
        if self._durable is None:
            raise EngineMisused("the engine has not been started", hint="await engine.start() first")
        return self._durable

    @durable.setter
    def durable(self, durable: Durable) -> None:
        self._durable = durable

    @property
    def has_begun(self) -> bool:
        return self._durable is not None

    def lacks(self, name: str, arguments: Json) -> str:
        return self.requirements[name][0](arguments) if name in self.requirements else ""

    def needs(self, name: str, arguments: Json) -> frozenset[str]:
        return frozenset(self.requirements[name][1](arguments)) if name in self.requirements else frozenset()

    async def may_go_on(self) -> bool:
        """Asked before each step: whether this process still has the right to its runs."""
        return not self.closing and await self._may_go_on()

    def is_stopping(self, run: Run) -> bool:
        """Whether the run stops here to continue elsewhere, which is no end of it."""
        return self.closing or run in self._stopped

    # From the beginning of a run to its end

    def list_run(self, run_id: str, name: str, payload: Json) -> None:
        """Write its row, unless it is there."""
        place = {"queue": payload["queue"], "partition": payload["partition"]}
        self._runs.add(run_id, name=name, subject=subject_of(run_id, payload), **place)

    def body(self, name: str) -> Callable[[str, Json], Awaitable[None]]:
        async def body(run_id: str, payload: Json) -> None:
            if self.closing:
                raise asyncio.CancelledError
            run = Run(run_id, subject_of(run_id, payload), self)
            task = asyncio.current_task()
            assert task is not None
            self._active[run_id] = (run, task)
            if payload.get(HANDED_TO):
                self.handed[run_id] = payload[HANDED_TO]
            try:
                await self._carry_out(name, run, payload)
            finally:
                if self._active.get(run_id, (None,))[0] is run:
                    del self._active[run_id]
                    self.handed.pop(run_id, None)
                self._stopped.discard(run)
                if run_id in self._ended:
                    self._ended.pop(run_id).set()

        return body

    async def _carry_out(self, name: str, run: Run, payload: Json) -> None:
        await self._on_record(lambda: self.list_run(run.id, name, payload))
        if self.stays is not None and not await self.stays(run, name, payload):
            raise asyncio.CancelledError
        if await self._enter(run, self._queues.get(payload["queue"] or "", Room())) != "running":
            return
        result, error = await self._outcome(name, run, payload["arguments"])
        await self._say_all()
        told = None if error is None else error_to_json(error)
        await self._on_record(lambda: self._runs.end(run.id, _end_state(error), result=result, error=told))

    async def _enter(self, run: Run, room: Room) -> RunState:
        """Wait until the queue has room for it. One that has ended is not begun again."""
        error = error_to_json(cancelled(run.id))
        while (state := await self._on_record(lambda: self._runs.enter(run.id, room))) == "waiting":
            if run.is_cancelled:
                await self._on_record(lambda: self._runs.end(run.id, "cancelled", error=error))
                return "cancelled"
            await asyncio.sleep(_AGAIN)
        return state

    async def _outcome(self, name: str, run: Run, arguments: Json) -> tuple[Any, ForgeError | None]:
        from forge.engine.durable import OwnershipLost  # noqa: PLC0415 - loaded by now

        try:
            return plain(await self.workflows[name](run, arguments), what="the result of the run"), None
        except OwnershipLost:
            raise
        except ForgeError as error:
            return None, error
        except Exception as error:  # noqa: BLE001 - whatever a workflow does wrong, its run must end
            return None, RunFailed(f"{name} failed: {type(error).__name__}: {error}", hint="see the log")

    async def _say_all(self) -> None:
        """What a run said is on record before its end is."""
        while True:
            try:
                return await self.events.flush()
            except Upstream:
                await asyncio.sleep(_AGAIN)

    async def _on_record(self, write: Callable[[], T]) -> T:
        """A database that is away is waited for: to fail here would leave a run that nobody ends.

        Who is stopped meanwhile goes when it is written, so that nothing of theirs comes after what others write then.
        """
        while True:
            writing = asyncio.create_task(asyncio.to_thread(write))
            try:
                return await asyncio.shield(writing)
            except Upstream:
                await asyncio.sleep(_AGAIN)
            except asyncio.CancelledError:
                await asyncio.gather(writing, return_exceptions=True)
                raise

    # What others want of the runs that are here

    def cancel(self, run_id: str) -> None:
        if run_id in self._active:
            self._active[run_id][0].cancel()

    async def stop(self) -> None:
        """End all of them here, not their work: whoever takes them over continues."""
        stopping = [task for _, task in self._active.values()]
        ids = tuple(self._active)
        self._stopped.update(run for run, _ in self._active.values())
        for task in stopping:
            task.cancel()
        if stopping:
            await asyncio.wait(stopping, timeout=10)
            await self._on_record(lambda: self._runs.step_aside(ids))

    async def until_end(self, run_id: str) -> None:
        """Or a moment, for the run may be another process's."""
        event = self._ended.setdefault(run_id, asyncio.Event())
        try:
            async with asyncio.timeout(_AGAIN):
                await event.wait()
        except TimeoutError:
            if self._ended.get(run_id) is event and run_id not in self._active:
                del self._ended[run_id]

    @contextmanager
    def waiting_for(self, question_id: str) -> Iterator[asyncio.Event]:
        closed = self._waiting[question_id] = asyncio.Event()
        try:
            yield closed
        finally:
            self._waiting.pop(question_id, None)

    def wake(self, question_id: str) -> None:
        if question_id in self._waiting:
            self._waiting[question_id].set()

    async def watch(self) -> None:
        """What other processes asked: cancelled runs, closed questions."""
        while True:
            await asyncio.sleep(_WATCH)
            try:
                to_cancel = await asyncio.to_thread(self._runs.cancel_requested, tuple(self._active))
                closed = await asyncio.to_thread(self.questions.closed_among, tuple(self._waiting))
            except Upstream:
                continue
            for run_id in to_cancel:
                self.cancel(run_id)
            for question_id in closed:
                self.wake(question_id)


def subject_of(run_id: str, payload: Json) -> Subject:
    """A run that an earlier version began names its topic instead."""
    if "subject" in payload:
        return Subject(SubjectKind(payload["subject"]["kind"]), payload["subject"]["id"])
    return subject_of_topic(payload["topic"]) or run_subject(run_id)


def _end_state(error: ForgeError | None) -> RunState:
    match error:
        case None:
            return "done"
        case RunCancelled():
            return "cancelled"
        case _:
            return "failed"
