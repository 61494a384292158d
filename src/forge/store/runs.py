"""Rows of runs: what was asked for, where each stands, what came out, and whose turn it is in a queue."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Row, func, or_, select, update

from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.schema import runs
from forge.subjects import Subject, SubjectKind

RunState = Literal["queued", "waiting", "running", "done", "failed", "cancelled"]
"""`waiting`: a process has it and waits until the queue has room; `queued`: nobody has taken it yet."""
ENDED: tuple[RunState, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class RunRow:
    id: str
    name: str
    state: RunState
    subject: Subject
    queue: str | None
    partition: str | None
    created: float
    started: float | None
    ended: float | None
    cancel_requested: bool
    result: Any
    error: dict[str, Any] | None

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def waits_for(self) -> str:
        """Why nobody continues with it although its process is dead: what those lack who could."""
        error = self.error if self.error is not None and not self.has_ended else {}
        return f"{error.get('message', '')} {error.get('hint', '')}".strip()


@dataclass(frozen=True, slots=True)
class Room:
    """How many of a queue's runs may be running: altogether, and of one partition."""

    limit: int | None = None
    partition_limit: int | None = None


class Runs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, id_: str, *, name: str, subject: Subject, queue: str | None, partition: str | None) -> None:
        """Does nothing when the row is there."""
        row: dict[str, Any] = {"id": id_, "name": name, "queue": queue, "partition": partition}
        row |= {"subject_kind": str(subject.kind), "subject_id": subject.id}
        row |= {"state": "queued", "created": time.time(), "cancel_requested": False}
        with self._database.transaction() as connection:
            connection.execute(insert_missing(runs, row, self._database, "id"))

    def get(self, id_: str) -> RunRow | None:
        with self._database.reading() as connection:
            row = connection.execute(select(runs).where(runs.c.id == id_)).one_or_none()
        return None if row is None else _value(row)

    def list(
        self,
        *,
        states: Sequence[RunState] = (),
        name: str | None = None,
        subject: Subject | None = None,
        limit: int = 100,
    ) -> tuple[RunRow, ...]:
        """Newest first."""
        query = select(runs).order_by(runs.c.number.desc()).limit(limit)
        if states:
            query = query.where(runs.c.state.in_(states))
        if name is not None:
            query = query.where(runs.c.name == name)
        if subject is not None:
            query = query.where(runs.c.subject_kind == str(subject.kind), runs.c.subject_id == subject.id)
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))

    def ended_before(self, ids: Collection[str], time_: float) -> tuple[str, ...]:
        """Which of these are over since then."""
        over = select(runs.c.id).where(runs.c.id.in_(ids), runs.c.state.in_(ENDED), runs.c.ended < time_)
        with self._database.reading() as connection:
            return tuple(connection.execute(over).scalars())

    def enter(self, id_: str, room: Room) -> RunState:
        """Take the run's place if the queue has room now, else note that it waits. Gives the state it has then."""
        with self._database.transaction() as connection:
            row = connection.execute(select(runs).where(runs.c.id == id_).with_for_update()).one()
            if row.error is not None and row.state not in ENDED:
                connection.execute(update(runs).where(runs.c.id == id_).values(error=None))
            if row.state not in ("queued", "waiting"):
                return row.state  # type: ignore[no-any-return]
            free = self._has_room(connection, row, room)
            state: RunState = "running" if free else "waiting"
            if state != row.state:
                started = {"started": time.time()} if free else {}
                connection.execute(update(runs).where(runs.c.id == id_).values(state=state, **started))
            return state

    def leave(self, id_: str, error: dict[str, Any]) -> None:
        """Note why nobody continues with a run that has not ended. Whoever enters it takes the note away."""
        with self._database.transaction() as connection:
            unended = (runs.c.id == id_) & runs.c.state.not_in(ENDED)
            connection.execute(update(runs).where(unended).values(error=json.dumps(error)))

    def step_aside(self, ids: Collection[str]) -> None:
        """Nobody waits behind these for now: their process is gone. Whoever continues with one enters it again."""
        waiting = runs.c.id.in_(ids) & (runs.c.state == "waiting")
        with self._database.transaction() as connection:
            connection.execute(update(runs).where(waiting).values(state="queued"))

    def _has_room(self, connection: Any, row: Row[Any], room: Room) -> bool:
        if row.queue is None or (room.limit is None and room.partition_limit is None):
            return True
        if connection.dialect.name == "postgresql":
            # Two that enter at once must not both find the last place free.
            connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"forge queue {row.queue}"))))
        # Whoever has waited longer goes first.
        ahead = or_(runs.c.state == "running", (runs.c.state == "waiting") & (runs.c.number < row.number))
        taken = select(func.count()).select_from(runs).where(runs.c.queue == row.queue, runs.c.id != row.id, ahead)
        if room.partition_limit is not None:
            # Jobs of one branch go in the order they were asked for, also before one whose process is just starting.
            earlier = (runs.c.state == "queued") & (runs.c.number < row.number)
            same = select(func.count()).select_from(runs).where(runs.c.queue == row.queue, runs.c.id != row.id)
            beside = connection.execute(same.where(runs.c.partition == row.partition, or_(ahead, earlier))).scalar_one()
            if beside >= room.partition_limit:
                return False
        return room.limit is None or connection.execute(taken).scalar_one() < room.limit

    def end(self, id_: str, state: RunState, *, result: Any = None, error: dict[str, Any] | None = None) -> None:
        """The first end counts."""
        values = {
            "state": state,
            "ended": time.time(),
            "result": json.dumps(result),
            "error": None if error is None else json.dumps(error),
        }
        with self._database.transaction() as connection:
            connection.execute(update(runs).where(runs.c.id == id_, runs.c.state.not_in(ENDED)).values(**values))

    def request_cancel(self, id_: str, error: dict[str, Any]) -> RunState | None:
        """A run that nobody has taken ends here and now; another one is told to. Gives the state after that."""
        with self._database.transaction() as connection:
            state = connection.execute(select(runs.c.state).where(runs.c.id == id_).with_for_update()).scalar()
            if state is None or state in ENDED:
                return state
            values: dict[str, Any] = {"cancel_requested": True}
            if state == "queued":
                values |= {"state": "cancelled", "ended": time.time(), "error": json.dumps(error)}
            connection.execute(update(runs).where(runs.c.id == id_).values(**values))
            return values.get("state", state)  # type: ignore[no-any-return]

    def cancel_requested(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these are to be cancelled."""
        if not ids:
            return frozenset()
        query = select(runs.c.id).where(runs.c.id.in_(ids), runs.c.cancel_requested)
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())


def _value(row: Row[Any]) -> RunRow:
    return RunRow(
        id=row.id,
        name=row.name,
        state=row.state,
        subject=Subject(SubjectKind(row.subject_kind), row.subject_id),
        queue=row.queue,
        partition=row.partition,
        created=row.created,
        started=row.started,
        ended=row.ended,
        cancel_requested=row.cancel_requested,
        result=None if row.result is None else json.loads(row.result),
        error=None if row.error is None else json.loads(row.error),
    )
