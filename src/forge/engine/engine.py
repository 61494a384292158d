"""The engine: starts runs, keeps them going over crashes, cancels them, answers their questions."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from forge.engine.encoding import error_from_json, error_to_json, plain
from forge.engine.errors import EngineMisused, QueueUnknown, RunNameUnknown, RunUnknown
from forge.engine.execution import BEGUN_BY, HANDED_TO, Execution, Lacks, Needs, Workflow
from forge.engine.peers import Peers
from forge.engine.retention import forget_steps
from forge.engine.run import cancelled
from forge.engine.workers import Worker
from forge.errors import ForgeError
from forge.json_value import Json
from forge.question_kinds import QuestionKind
from forge.store.database import Database
from forge.store.errors import QuestionIsClosed
from forge.store.events import Events
from forge.store.leases import Leases
from forge.store.questions import Question, Questions
from forge.store.runs import Room, RunRow, Runs, RunState
from forge.subjects import Subject, run_subject

BRANCHES = "branches"
"""The queue with one job per branch: the branch is the partition."""
RUNS = "runs"
"""The queue of long runs, a few at a time."""

T = TypeVar("T")
_started: list[Engine] = []


@dataclass(frozen=True, slots=True)
class RunHandle:
    id: str
    _engine: Engine
    elsewhere: bool = False
    """Whether another process was asked to begin it."""

    async def result(self) -> Any:
        """What the run gave back, whichever process runs it; its error is raised, a cancelled one as `RunCancelled`."""
        return await self._engine.result(self.id)


class Engine:
    """One per process and event loop.

    With `serve` it runs whatever is on the queues and what dead processes left; without, what it started itself and
    what it is asked to take over.
    """

    def __init__(
        self,
        database: Database,
        events: Events | None = None,
        *,
        executor_id: str | None = None,
        queues: Mapping[str, Room] | None = None,
        max_runs: int = 3,
        serve: bool = False,
        offers: Callable[[], Collection[str]] | None = None,
        beat: float = 1.0,
        dead_after: float = 5.0,
    ) -> None:
        self._database = database
        self._own_events = events is None
        self.events = events or Events(database)
        self._questions = Questions(database)
        self._runs = Runs(database)
        standard = {BRANCHES: Room(partition_limit=1), RUNS: Room(limit=max_runs)}
        self._queues = {**standard, **(queues or {})}
        self._serve = serve
        leases = Leases(database)
        self._worker = Worker(
            leases,
            beat=beat,
            dead_after=dead_after,
            on_lost=self._lose_lease,
            name=executor_id,
            serves=serve,
            offers=offers,
        )
        self._here = Execution(
            self._runs, self._questions, self.events, queues=self._queues, may_go_on=self._worker.wait_until_sure
        )
        self._lost: set[str] = set()
        self._peers = Peers(self._runs, self._here, self._worker, serve=serve)
        if serve:
            self._here.stays = self._peers.stays_here
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.Task[None] | None = None

    # Life

    def register(
        self, name: str, workflow: Workflow, *, lacks: Lacks | None = None, needs: Needs | None = None
    ) -> None:
        """Before the start; the same in every process, for any of them may have to continue with a run.

        `lacks` tells what this process lacks for a run that another one left, such as a key. Such a run goes to a
        process whose `offers` have all that the run `needs`; while there is none, it waits.
        """
        if self._here.has_begun:
            raise EngineMisused("the engine has been started", hint="register workflows before that")
        self._here.workflows[name] = workflow
        if lacks is not None:
            self._here.requirements[name] = (lacks, needs or (lambda _: ()))

    async def start(self) -> None:
        if _started:
            raise EngineMisused("this process has an engine already", hint="use that one, or close it first")
        from forge.engine.durable import Durable  # noqa: PLC0415 - DBOS takes most of a second to load

        _started.append(self)
        try:
            self._loop = asyncio.get_running_loop()
            await asyncio.to_thread(self._worker.take_lease)
            bodies = {name: self._here.body(name) for name in self._here.workflows}
            durable = Durable(self._database, executor_id=self._worker.id, workflows=bodies)
            self._here.durable = durable
            await durable.launch(self._queues, serve=self._serve)
        except BaseException:
            _started.clear()
            raise
        await self._list_what_is_known()
        self._worker.start(self._peers.look_after)
        self._watching = asyncio.create_task(self._here.watch())

    async def _list_what_is_known(self) -> None:
        """A process may have died between beginning a run and listing it, and nobody would look for that one."""
        for id_, name, payload in await self._here.durable.unfinished():
            await asyncio.to_thread(self._here.list_run, id_, name, payload)

    async def close(self) -> None:
        """Runs that are under way stop where they are; the next process continues with them."""
        if not self._here.has_begun or self._here.closing:
            return
        self._here.closing = True
        if self._watching is not None:
            self._watching.cancel()
        try:
            await self._here.stop()
            await asyncio.to_thread(self._worker.close)
            await self._here.durable.close()
            # Only now: nobody may continue with a run while this process could still record for it.
            await asyncio.to_thread(self._worker.leave)
            if self._own_events:
                await asyncio.to_thread(self.events.close)
        finally:
            _started.clear()

    async def at_work(self, begun: Coroutine[Any, Any, T]) -> T:
        """Done on the loop that runs have, for whoever may be on another."""
        if self._loop is None or self._loop is asyncio.get_running_loop():
            return await begun
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(begun, self._loop))

    def _require_own_loop(self) -> None:
        """What is begun or woken on another loop would continue there, out of sight."""
        if self._loop not in (None, asyncio.get_running_loop()):
            raise EngineMisused("this is not the event loop of the engine", hint="go through `at_work`")

    # Runs

    async def start_run(
        self,
        name: str,
        arguments: Json,
        *,
        run_id: str | None = None,
        subject: Subject | None = None,
        anywhere: bool = False,
    ) -> RunHandle:
        """Begin at once, in this process. With an id that is taken, it is the run that is there.

        `anywhere`: of those who serve, whoever has the least to do begins it.
        """
        return await self._begin(name, arguments, run_id, subject, anywhere=anywhere)

    async def enqueue(
        self,
        queue: str,
        name: str,
        arguments: Json,
        *,
        run_id: str | None = None,
        partition: str | None = None,
        subject: Subject | None = None,
    ) -> RunHandle:
        """Begin when the queue has room: in any process that serves it; in this one if it does not serve."""
        room = self._queues.get(queue)
        if room is None:
            raise QueueUnknown(f"there is no queue {queue}", hint=f"use one of {', '.join(sorted(self._queues))}")
        if room.partition_limit is not None and not partition:
            raise QueueUnknown(f"queue {queue} needs a partition", hint="say for which branch")
        return await self._begin(name, arguments, run_id, subject, queue=queue, partition=partition)

    async def _begin(
        self,
        name: str,
        arguments: Json,
        run_id: str | None,
        subject: Subject | None,
        *,
        queue: str | None = None,
        partition: str | None = None,
        anywhere: bool = False,
    ) -> RunHandle:
        self._require_own_loop()
        durable, known = self._here.durable, self._here.workflows
        if name not in known:
            raise RunNameUnknown(f"there is no workflow {name}", hint=f"there are {', '.join(sorted(known))}")
        id_ = run_id or uuid.uuid4().hex
        payload = {
            "arguments": plain(arguments, what="the arguments of the run"),
            "subject": asdict(subject or run_subject(id_)),
            "queue": queue,
            "partition": partition,
        }
        elsewhere: str | None = None
        if anywhere and self._serve:
            elsewhere = await asyncio.to_thread(self._peers.least_busy, name, payload["arguments"])
        payload[BEGUN_BY] = self._worker.id
        # DBOS first: what it knows is never forgotten, and a run writes its own row if this process dies in between.
        if elsewhere is not None:
            await durable.hand_over(elsewhere, name, id_, {**payload, HANDED_TO: elsewhere})
        elif queue is not None and self._serve:
            await durable.enqueue(queue, name, id_, payload, partition=partition)
        else:
            await durable.start(name, id_, payload)
        await asyncio.to_thread(self._here.list_run, id_, name, payload)
        return RunHandle(id_, self, elsewhere=elsewhere is not None)

    def was_handed(self, run_id: str) -> bool:
        """Whether the run is working here because another process wanted it begun here, not because that one died."""
        return self._here.handed.get(run_id) == self._worker.id

    def handle(self, run_id: str) -> RunHandle:
        return RunHandle(run_id, self)

    async def result(self, run_id: str) -> Any:
        self._require_own_loop()
        while not (row := await asyncio.to_thread(self.status, run_id)).has_ended:
            if self._here.closing:
                raise EngineMisused("the engine was closed", hint="the run continues in the next process")
            await self._here.until_end(run_id)
        if row.error is not None:
            raise error_from_json(row.error)
        return row.result

    async def wait(self, run_id: str, seconds: float) -> None:
        """For the end of a run, however it ends, and no longer than that."""
        with suppress(TimeoutError, ForgeError):
            async with asyncio.timeout(seconds):
                await self.result(run_id)

    def status(self, run_id: str) -> RunRow:
        row = self._runs.get(run_id)
        if row is None:
            raise RunUnknown(f"there is no run {run_id}", hint="list the runs")
        return row

    def runs(
        self,
        *,
        states: Sequence[RunState] = (),
        name: str | None = None,
        subject: Subject | None = None,
        limit: int = 100,
    ) -> tuple[RunRow, ...]:
        """Newest first."""
        return self._runs.list(states=states, name=name, subject=subject, limit=limit)

    def forget_steps(self, before: float) -> Iterator[int]:
        """Of runs that ended before that time; in parts, off the loop. Their results and errors stay."""
        return forget_steps(self._here.durable, self._runs, before)

    async def cancel(self, run_id: str) -> RunRow:
        """Ask the run to end, wherever it runs; one that has ended stays as it is. Gives what it looks like then."""
        self._require_own_loop()
        state = await asyncio.to_thread(self._runs.request_cancel, run_id, error_to_json(cancelled(run_id)))
        if state == "cancelled":
            await self._here.durable.unqueue(run_id)
        else:
            self._here.cancel(run_id)
        return await asyncio.to_thread(self.status, run_id)

    # Questions

    def open_questions(self, *, run_id: str | None = None, kind: QuestionKind | None = None) -> tuple[Question, ...]:
        return self._questions.list_open(run=run_id, kind=kind)

    async def answer(self, question_id: str, text: str) -> bool:
        """True: it counts. False: the very same answer had been given. Anything else that is closed raises."""
        self._require_own_loop()
        if await asyncio.to_thread(self._questions.close, question_id, "answered", answer=text):
            self._here.wake(question_id)
            return True
        question = await asyncio.to_thread(self._questions.get, question_id)
        if question.state == "answered" and question.answer == text:
            return False
        how = "timed out" if question.state == "open" else question.state.replace("_", " ")
        raise QuestionIsClosed(f"question {question_id} was closed before: {how}", hint="see what its run did then")

    async def withdraw(self, question_id: str) -> bool:
        """Close a question without an answer; its run gets `cancelled` for a reply and continues."""
        self._require_own_loop()
        await asyncio.to_thread(self._questions.get, question_id)
        done = await asyncio.to_thread(self._questions.close, question_id, "cancelled")
        self._here.wake(question_id)
        return done

    def take_over(self, run_id: str) -> None:
        """Continue with this run here if its process is dead, or as soon as it is. Who serves does so without asking.

        Others leave the runs of the dead alone: they may end before the run does, and a model would be asked again.
        """
        self._peers.asked_for.add(run_id)

    def lacks(self, run_id: str) -> str:
        """What this process lacks to continue with the run; empty if nothing."""
        found = self._here.durable.described(run_id)
        return "" if found is None else self._here.lacks(found[1], found[2])

    def arguments(self, run_id: str) -> Json | None:
        """What the run was begun with; None once its steps are forgotten."""
        found = self._here.durable.described(run_id)
        return None if found is None else found[2]

    # When other processes take over the runs of this one

    def _lose_lease(self, name: str) -> None:
        """Called from the heartbeat's thread or another one, never from the loop's."""
        if self._loop is not None and not self._here.closing:
            asyncio.run_coroutine_threadsafe(self._begin_anew(name), self._loop).result()

    async def _begin_anew(self, name: str) -> None:
        """Others continue with the runs that were here: stop them first, then come back under another name."""
        if name in self._lost:
            return
        self._lost.add(name)
        await self._here.stop()
        self._here.durable.rename(await asyncio.to_thread(self._worker.renew))
