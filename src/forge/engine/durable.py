"""Forge's use of DBOS, and all of it: launch, start, record a step, find and take over what a dead process left."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, Serializer, SetEnqueueOptions, SetWorkflowID
from dbos import error as dbos_errors

from forge.engine.dbos_internals import (
    ARGUMENTS,
    WORKFLOWS,
    delete_runs,
    poll_queue,
    rename_executor,
    system_database,
    system_engine,
)
from forge.engine.encoding import error_from_json, error_to_json
from forge.engine.errors import RunExists
from forge.engine.poll_cache import Changes, cache_polls
from forge.engine.run_tables import engine_for_runs, make_tables_whole
from forge.json_value import Json
from forge.store.database import Database, unavailable
from forge.store.runs import Room

OwnershipLost = (dbos_errors.DBOSWorkflowConflictIDError, dbos_errors.DBOSWorkflowCancelledError)
"""Another process has the run now. Whoever meets these lets them pass."""

Body = Callable[[str, Json], Awaitable[None]]

_VERSION = "forge-1"  # constant: a run begun by one release continues under the next
_POLL = 0.15
_POLL_FOR_THE_DEAD = 0.4
_POLL_FOR_COMMANDS = 0.09
"""Whoever serves is handed runs by commands, behind which a person waits."""
_THREADS = 256
"""A command that an agent runs has one for as long as it takes; whoever ends it must not wait for a free one."""
_LEFT = "forge-left"
_OWN = "forge-own-"
_ERROR = "$error"


class _JsonSerializer(Serializer):
    """Text that any later version can read, and nothing that runs code when it is read."""

    def serialize(self, data: Any) -> str:
        if isinstance(data, BaseException):
            data = {_ERROR: error_to_json(data)}
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False)

    def deserialize(self, serialized_data: str) -> Any:
        data = json.loads(serialized_data)
        if isinstance(data, dict) and data.keys() == {_ERROR}:
            return error_from_json(data[_ERROR])
        return data

    def name(self) -> str:
        return "forge_json"


class Durable:
    """One per process, on one event loop."""

    def __init__(self, database: Database, *, executor_id: str, workflows: Mapping[str, Body]) -> None:
        self._database = database
        self._executor_id = executor_id
        self._serves = False
        self._engine = engine_for_runs(database)
        _be_quiet()
        DBOS(config=self._config(executor_id))
        self._functions = {name: _register(name, body) for name, body in workflows.items()}
        self._changes = Changes(Path(str(self._engine.url.database))) if database.is_sqlite else None

    def _config(self, executor_id: str) -> DBOSConfig:
        return {
            "name": "forge",
            "system_database_url": self._engine.url.render_as_string(hide_password=False),
            "system_database_engine": self._engine,
            "executor_id": executor_id,
            "application_version": _VERSION,
            "enable_patching": True,
            "serializer": _JsonSerializer(),
            "enable_otlp": False,
            "log_level": "CRITICAL",
            "max_executor_threads": _THREADS,
            "notification_listener_polling_interval_sec": 0.25,
            "scheduler_polling_interval_sec": 3600.0,
            # Questions and events are Forge's own, so nothing of DBOS has to be woken.
            "use_listen_notify": False,
        }

    async def launch(self, queues: Mapping[str, Room], *, serve: bool) -> None:
        self._serves = serve
        if not serve:
            DBOS.listen_queues([])
        # Runs that others begin or leave come through this process's own queue. Release 0.1 left runs of the dead on a
        # queue for all who serve, where some may still be.
        self._look_into_own()
        if serve:
            poll_queue(_LEFT, _POLL_FOR_THE_DEAD)
        # On the loop's own thread: DBOS takes the loop it is launched on for everything that it starts later.
        try:
            with self._alone(), self._translated():
                DBOS.launch()
        except BaseException:
            # Half launched, it would be in the way of the next one in this process.
            await self.close()
            raise
        if self._changes is not None:
            cache_polls(system_database(), self._changes)
        for name, room in queues.items():
            await DBOS.register_queue_async(
                name,
                global_concurrency=room.limit,
                partition_concurrency=room.partition_limit,
                polling_interval_sec=_POLL,
                on_conflict="always_update",
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """DBOS makes its tables at launch, statement by statement in a SQLite file: here one process after the other,
        and whole or not at all, for tables that were half made when somebody ended the process could never be used."""
        if not self._database.is_sqlite:
            yield
            return
        with self._database.transaction():
            make_tables_whole(self._engine)
            yield

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        # DBOS had made its threads the loop's own, and they end with it.
        loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix="forge"))
        # Off the loop: DBOS waits for threads that may be waiting for the loop.
        with ThreadPoolExecutor(1) as aside:
            await loop.run_in_executor(aside, lambda: DBOS.destroy(destroy_registry=True))
            if self._changes is not None:
                self._changes.close()  # first: the last one to close tidies up, and it cannot write
            await loop.run_in_executor(aside, self._engine.dispose)

    async def start(self, name: str, run_id: str, payload: Json) -> None:
        """Run it in this process. An id that is taken starts nothing."""

        async def begin() -> None:
            with SetWorkflowID(run_id):
                await DBOS.start_workflow_async(self._functions[name], payload)

        await _apart(begin(), run_id)

    async def enqueue(self, queue: str, name: str, run_id: str, payload: Json, *, partition: str | None) -> None:
        """Let any process that serves the queue run it."""

        async def begin() -> None:
            with SetWorkflowID(run_id), SetEnqueueOptions(queue_partition_key=partition):
                await DBOS.enqueue_workflow_async(queue, self._functions[name], payload)

        await _apart(begin(), run_id)

    async def hand_over(self, executor_id: str, name: str, run_id: str, payload: Json) -> None:
        """Let that process run it, and nobody else while it lives."""
        await self.enqueue(_own_queue(executor_id), name, run_id, payload, partition=None)

    async def unfinished(self) -> list[tuple[str, str, Json]]:
        """Every run that has not ended: its id, its workflow and what it was started with."""
        found = await DBOS.list_workflows_async(status=["PENDING", "ENQUEUED"], load_output=False)
        return [(each.workflow_id, each.name, each.input["args"][0]) for each in found if each.input is not None]

    def ended(self, before: float, *, after: str, most: int) -> list[str]:
        """Runs that are over since before that time, in the order of their ids, from the one behind `after` on."""
        status = WORKFLOWS.c
        over = sa.and_(status.status.not_in(("PENDING", "ENQUEUED", "DELAYED")), status.updated_at < before * 1000)
        query = sa.select(status.workflow_uuid).where(over, status.workflow_uuid > after)
        with self._records() as connection:
            return list(connection.execute(query.order_by(status.workflow_uuid).limit(most)).scalars())

    def forget(self, run_ids: Collection[str]) -> None:
        """All that is on record of them."""
        with self._translated():
            delete_runs(list(run_ids))

    async def unqueue(self, run_id: str) -> None:
        """Take a run that has not begun off its queue."""
        await _apart(DBOS.cancel_workflow_async(run_id), run_id)

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        """Only from inside a run."""

        async def call() -> Any:
            return await function()

        return await DBOS.run_step_async({"name": name}, call)

    async def patched(self, name: str) -> bool:
        return await DBOS.patch_async(name)

    def rename(self, executor_id: str) -> None:
        """What this process takes from now on, it takes under another name."""
        self._executor_id = executor_id
        rename_executor(executor_id)
        self._look_into_own()

    def _look_into_own(self) -> None:
        poll_queue(_own_queue(self._executor_id), _POLL_FOR_COMMANDS if self._serves else _POLL_FOR_THE_DEAD)

    @contextmanager
    def _records(self) -> Iterator[sa.Connection]:
        """DBOS's tables. It can list and resume runs itself, but not take them over without a race."""
        with self._translated(), system_engine().begin() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The tables of runs may lie in a file of their own: that one is named, not the database beside it."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            raise unavailable(self._engine.url, error) from error

    def holders(self) -> frozenset[str]:
        """Who has runs that are under way, or that only they may begin."""
        status = WORKFLOWS.c
        pending = sa.select(status.executor_id).where(status.status == "PENDING").distinct()
        asked = sa.select(status.queue_name).where(_is_enqueued_for_one()).distinct()
        with self._records() as connection:
            names = {name for name in connection.execute(pending).scalars() if name is not None}
            return frozenset(names | {name.removeprefix(_OWN) for name in connection.execute(asked).scalars()})

    def held_by(self, executor_ids: Collection[str]) -> tuple[str, ...]:
        """The runs that these have under way."""
        query = sa.select(WORKFLOWS.c.workflow_uuid).where(_held_by(executor_ids))
        with self._records() as connection:
            return tuple(connection.execute(query).scalars())

    def left_by(self, executor_ids: Collection[str]) -> tuple[tuple[str, str, Json], ...]:
        """The runs that these have under way: id, workflow and arguments."""
        return self._described(_held_by(executor_ids))

    def described(self, run_id: str) -> tuple[str, str, Json] | None:
        """The same of one run; None if it is not known."""
        return next(iter(self._described(WORKFLOWS.c.workflow_uuid == run_id)), None)

    def _described(self, condition: sa.ColumnElement[bool]) -> tuple[tuple[str, str, Json], ...]:
        status, given = WORKFLOWS.c, ARGUMENTS.c
        read = _JsonSerializer().deserialize
        # Older releases of DBOS kept the arguments beside the status.
        arguments = sa.func.coalesce(given.inputs, status.inputs)
        both = sa.outerjoin(WORKFLOWS, ARGUMENTS, status.workflow_uuid == given.workflow_uuid)
        query = sa.select(status.workflow_uuid, status.name, arguments).select_from(both).where(condition)
        with self._records() as connection:
            rows = connection.execute(query).all()
        return tuple((id_, name, read(inputs)["args"][0]["arguments"]) for id_, name, inputs in rows if inputs)

    def loads(self, executor_ids: Collection[str]) -> dict[str, int]:
        """How many runs each of these has under way or is about to begin; in the order given."""
        with self._records() as connection:
            return _loads(connection, executor_ids)

    def share_out(self, executor_ids: Collection[str], *, able: Mapping[str, Collection[str]]) -> int:
        """Give the runs of these, who are dead, to the living who are able to continue with them, each to who has the
        least to do; gives how many. A run without anybody stays where it is.

        Only one process gets each: it is given away in one statement that finds it with the dead. Whoever dies before
        it begins one is a holder of it, too.
        """
        given = 0
        held = sa.select(WORKFLOWS.c.workflow_uuid).where(_held_by(executor_ids))
        with self._records() as connection:
            left = connection.execute(held.order_by(WORKFLOWS.c.created_at)).scalars().all()
            living = dict.fromkeys(name for names in able.values() for name in names)
            loads = _loads(connection, living) if left else {}
            for run_id in (each for each in left if able.get(each)):
                name = min(able[run_id], key=loads.__getitem__)
                mine = sa.and_(WORKFLOWS.c.workflow_uuid == run_id, _held_by(executor_ids))
                if _enqueue_anew(connection, _own_queue(name), mine):
                    loads[name] += 1
                    given += 1
        return given

    def pass_on(self, run_id: str, executor_id: str) -> None:
        """Give a run that this process has to another one, which begins it."""
        with self._records() as connection:
            _enqueue_anew(connection, _own_queue(executor_id), self._has(run_id))

    def leave_queue(self, run_id: str) -> None:
        """Keep a run that waits here from taking the place of another one in its queue."""
        with self._records() as connection:
            own = sa.update(WORKFLOWS).where(self._has(run_id))
            connection.execute(own.values(queue_name=_own_queue(self._executor_id)))

    def _has(self, run_id: str) -> sa.ColumnElement[bool]:
        status = WORKFLOWS.c
        held = sa.and_(status.status == "PENDING", status.executor_id == self._executor_id)
        return sa.and_(status.workflow_uuid == run_id, held)

    def adopt(self, run_ids: Collection[str], executor_ids: Collection[str]) -> int:
        """Take these runs for this process, if their own is among the dead or nobody has taken them since."""
        status = WORKFLOWS.c
        left = sa.and_(status.status == "ENQUEUED", status.queue_name == _LEFT)
        mine = sa.and_(status.workflow_uuid.in_(run_ids), sa.or_(left, _held_by(executor_ids)))
        with self._records() as connection:
            return _enqueue_anew(connection, _own_queue(self._executor_id), mine)


def _enqueue_anew(connection: sa.Connection, queue: str, condition: sa.ColumnElement[bool]) -> int:
    values = {"status": "ENQUEUED", "queue_name": queue, "owner_xid": None, "started_at_epoch_ms": None}
    return connection.execute(sa.update(WORKFLOWS).where(condition).values(**values)).rowcount


def _loads(connection: sa.Connection, executor_ids: Collection[str]) -> dict[str, int]:
    status = WORKFLOWS.c
    whose = sa.case((status.status == "PENDING", status.executor_id), else_=status.queue_name)
    held = connection.execute(sa.select(whose).where(_held_by(executor_ids))).scalars()
    found = Counter(name.removeprefix(_OWN) for name in held)
    return {id_: found[id_] for id_ in executor_ids}


def _own_queue(executor_id: str) -> str:
    return f"{_OWN}{executor_id}"


def _is_enqueued_for_one() -> sa.ColumnElement[bool]:
    status = WORKFLOWS.c
    return sa.and_(status.status == "ENQUEUED", status.queue_name.startswith(_OWN, autoescape=True))


def _held_by(executor_ids: Collection[str]) -> sa.ColumnElement[bool]:
    status = WORKFLOWS.c
    queues = [_own_queue(id_) for id_ in executor_ids]
    pending = sa.and_(status.status == "PENDING", status.executor_id.in_(executor_ids))
    return sa.or_(pending, sa.and_(status.status == "ENQUEUED", status.queue_name.in_(queues)))


def _register(name: str, body: Body) -> Callable[[Json], Any]:
    async def workflow(payload: Json) -> None:
        run_id = DBOS.workflow_id
        assert run_id is not None
        await body(run_id, payload)

    return DBOS.workflow(name=name, max_recovery_attempts=None)(workflow)


async def _apart(begin: Any, run_id: str) -> None:
    """Outside of any run: one that starts another does not become its parent, so that each can be recovered alone."""
    try:
        await asyncio.create_task(begin, context=contextvars.Context())
    except dbos_errors.DBOSConflictingWorkflowError as error:
        raise RunExists(f"the id {run_id} belongs to a run of another kind", hint="choose another id") from error


def _be_quiet() -> None:
    """What concerns a person is raised or recorded; DBOS's own log is not for their terminal."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
