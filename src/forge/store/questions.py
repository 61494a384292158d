"""Rows of questions to people: open until one answer, the deadline or a withdrawal closes each, once."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Row, or_, select, update

from forge.question_kinds import QuestionKind
from forge.store.database import Database
from forge.store.errors import QuestionUnknown
from forge.store.insertion import insert_missing
from forge.store.schema import questions, runs
from forge.subjects import Subject, SubjectKind

QuestionState = Literal["open", "answered", "timed_out", "cancelled"]


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    run: str
    text: str
    options: tuple[str, ...]
    state: QuestionState
    asked: float
    expires: float | None
    closed: float | None
    answer: str | None
    context: str = ""
    kind: QuestionKind = QuestionKind.TEXT
    subject: Subject | None = None
    """That of its run; None where the run is unknown."""


_SELECT = select(questions, runs.c.subject_kind, runs.c.subject_id).outerjoin(runs, runs.c.id == questions.c.run)


class Questions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(
        self,
        id_: str,
        *,
        run: str,
        text: str,
        options: Sequence[str] = (),
        kind: QuestionKind = QuestionKind.TEXT,
        context: str = "",
        timeout: float | None = None,
    ) -> Question:
        """Asked again with the same id, it is the question that is there, with the deadline it had."""
        now = time.time()
        row: dict[str, Any] = {
            "id": id_,
            "run": run,
            "kind": str(kind),
            "text": text,
            "context": context,
            "options": json.dumps(list(options)),
        }
        row |= {"state": "open", "asked": now, "expires": None if timeout is None else now + timeout}
        with self._database.transaction() as connection:
            connection.execute(insert_missing(questions, row, self._database, "id"))
        return self.get(id_)

    def get(self, id_: str) -> Question:
        with self._database.reading() as connection:
            row = connection.execute(_SELECT.where(questions.c.id == id_)).one_or_none()
        if row is None:
            raise QuestionUnknown(f"there is no question {id_}", hint="list the open questions")
        return _value(row)

    def list_open(self, *, run: str | None = None, kind: QuestionKind | None = None) -> tuple[Question, ...]:
        query = _SELECT.where(questions.c.state == "open").order_by(questions.c.asked)
        if run is not None:
            query = query.where(questions.c.run == run)
        if kind is not None:
            query = query.where(questions.c.kind == str(kind))
        with self._database.reading() as connection:
            return tuple(_value(row) for row in connection.execute(query))

    def close(self, id_: str, state: QuestionState, *, answer: str | None = None) -> bool:
        """Whether this call closed it. An answer after the deadline does not count."""
        now = time.time()
        change = update(questions).where(questions.c.id == id_, questions.c.state == "open")
        if state == "answered":
            change = change.where(or_(questions.c.expires.is_(None), questions.c.expires > now))
        with self._database.transaction() as connection:
            done = connection.execute(change.values(state=state, answer=answer, closed=now))
        return done.rowcount == 1

    def closed_among(self, ids: Collection[str]) -> frozenset[str]:
        if not ids:
            return frozenset()
        query = select(questions.c.id).where(questions.c.id.in_(ids), questions.c.state != "open")
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())


def _value(row: Row[Any]) -> Question:
    return Question(
        id=row.id,
        run=row.run,
        text=row.text,
        options=tuple(json.loads(row.options)),
        state=row.state,
        asked=row.asked,
        expires=row.expires,
        closed=row.closed,
        answer=row.answer,
        context=row.context,
        kind=QuestionKind(row.kind),
        subject=None if row.subject_kind is None else Subject(SubjectKind(row.subject_kind), row.subject_id),
    )
