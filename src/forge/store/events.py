"""What happened, kept in order: one growing id per topic, replayed exactly once, then followed as it comes."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sqlalchemy import Connection, insert, select, update

from forge.events import Event, ModelAnswered, TextStreamed, to_json
from forge.store.database import Database
from forge.store.insertion import insert_missing
from forge.store.listeners import ALL, Listener, Listeners, Live, Recorded
from forge.store.publisher import Publisher
from forge.store.relay import relay_for
from forge.store.schema import events, topics

_PAGE = 500
_JOINED = 1000
"""Characters. A longer piece might not fit into a notification of PostgreSQL, or into what a client takes at once."""


@dataclass(frozen=True, slots=True)
class Publication:
    """`data` is the JSON text of one that is kept. `origin` names where in a run it comes from; it is recorded once."""

    topic: str
    event: Event
    data: str
    origin: str | None


class Events:
    """One per process: what is published here reaches its followers at once, others within some 20 ms."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._listeners = Listeners()
        self._relay = relay_for(database, self._listeners)
        self._publisher = Publisher(self._publish_first)
        self._name = uuid.uuid4().hex
        self._published = itertools.count()

    def append(self, topic: str, event: Event, *, origin: str | None = None) -> int:
        """Record one event now; gives its id. For a live event, which has none, 0."""
        return self._publish_first([Publication(topic, event, _text(event), origin)])[0]

    def append_with(self, write: Callable[[Connection], Iterable[tuple[str, Event]]]) -> None:
        """Record the events that `write` gives in the transaction in which it writes: all of it, or nothing."""
        with self._listeners.settled:
            with self._database.transaction() as connection:
                publications = [Publication(topic, event, _text(event), None) for topic, event in write(connection)]
                recorded = self._record(connection, publications)
            self._push(publications, recorded)

    def publish(self, topic: str, event: Event, *, origin: str | None = None) -> None:
        """Record or push it soon, in order, without waiting for the disk. A database that is away is waited for."""
        topic.encode()  # see `_text`
        if event.live:
            self._publisher.put(Publication(topic, event, "", None))
            return
        # With an origin it can be tried again, even when nobody knows whether the first try came through.
        self._publisher.put(Publication(topic, event, _text(event), origin or f"{self._name}/{next(self._published)}"))

    async def flush(self) -> None:
        """Until everything published before is recorded; raises when that takes too long, and forgets nothing."""
        await self._publisher.flush()

    def after(self, topic: str, after: int = 0, *, limit: int = _PAGE) -> list[Recorded]:
        query = select(events).where(events.c.topic == topic, events.c.id > after).order_by(events.c.id).limit(limit)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return [Recorded.read(row.id, row.time, row.data) for row in rows]

    def last(self, topic: str) -> int:
        """The id of the newest event, 0 when there is none."""
        with self._database.reading() as connection:
            return connection.execute(select(topics.c.last).where(topics.c.name == topic)).scalar() or 0

    async def follow(self, topic: str, after: int = 0) -> AsyncGenerator[Recorded | Live]:
        """Every recorded event after that id, each once and in order, without end; live ones in between as they come.

        Close it when done (`contextlib.aclosing`): a follower left behind keeps its inbox.
        """
        listener = Listener()
        self._listeners.add(topic, listener)
        self._relay.start()
        try:
            items: Sequence[Recorded | Live | int] = (ALL,)
            whole: dict[str, int] = {}
            while True:
                for item in items:
                    if isinstance(item, Live):
                        if not _is_old(item.event, whole):
                            yield item
                    elif isinstance(item, Recorded) and item.id == after + 1:
                        after = item.id
                        _note_answer(item.event, whole)
                        yield item
                    else:
                        # Not further than here: what came after it may come after live pieces too.
                        last = item.id if isinstance(item, Recorded) else item
                        async for recorded in self._replay(topic, after, last):
                            after = recorded.id
                            _note_answer(recorded.event, whole)
                            yield recorded
                items = await listener.take()
        finally:
            self._listeners.remove(topic, listener)

    async def _replay(self, topic: str, after: int, last: int) -> AsyncIterator[Recorded]:
        while after < last:
            page = await asyncio.to_thread(self.after, topic, after, limit=min(_PAGE, last - after))
            for recorded in page:
                after = recorded.id
                yield recorded
            if len(page) < _PAGE:
                return

    def close(self) -> None:
        """What was published is recorded first."""
        self._publisher.close()
        self._relay.close()

    def _publish_first(self, publications: Sequence[Publication]) -> list[int]:
        """As many from the front as go together: live ones, or those to record. Gives their ids."""
        live = publications[0].event.live
        together = list(takewhile(lambda publication: publication.event.live == live, publications))
        return self._stream(together) if live else self._keep(together)

    def _stream(self, publications: Sequence[Publication]) -> list[int]:
        pieces = _joined(publications)
        for topic, event in pieces:
            self._listeners.push(topic, Live(event))
        self._relay.send(pieces)
        return [0] * len(publications)

    def _keep(self, publications: Sequence[Publication]) -> list[int]:
        # Held until they are pushed too: two threads push in the order of their ids, and the relay, which sees them
        # in the database, does not overtake what was streamed before.
        with self._listeners.settled:
            with self._database.transaction() as connection:
                recorded = self._record(connection, publications)
            self._push(publications, recorded)
        return [item.id for item in recorded]

    def _push(self, publications: Sequence[Publication], recorded: Sequence[Recorded]) -> None:
        for publication, item in zip(publications, recorded, strict=True):
            self._listeners.push(publication.topic, item)

    def _record(self, connection: Connection, publications: Sequence[Publication]) -> list[Recorded]:
        # Locked in the same order by everybody, so that two writers of the same topics never wait for each other.
        last = {topic: self._lock_topic(connection, topic) for topic in sorted({each.topic for each in publications})}
        before = dict(last)
        recorded = []
        for publication in publications:
            item = _known(connection, publication)
            if item is None:
                last[publication.topic] += 1
                item = _insert(connection, publication, last[publication.topic])
            recorded.append(item)
        for topic, newest in last.items():
            if newest > before[topic]:
                connection.execute(update(topics).where(topics.c.name == topic).values(last=newest))
                self._relay.recorded(connection, topic, newest)
        return recorded

    def _lock_topic(self, connection: Connection, topic: str) -> int:
        """Until the transaction ends nobody else adds to the topic: ids become visible in their order."""
        connection.execute(insert_missing(topics, {"name": topic, "last": 0}, self._database, "name"))
        held = connection.execute(select(topics.c.last).where(topics.c.name == topic).with_for_update())
        return int(held.scalar_one())


def _note_answer(event: Event, whole: dict[str, int]) -> None:
    if isinstance(event, ModelAnswered):
        whole[event.turn] = max(event.answer, whole.get(event.turn, 0))


def _is_old(event: Event, whole: dict[str, int]) -> bool:
    """A piece of an answer that was told as a whole: the database was read while the piece was still on its way."""
    return isinstance(event, TextStreamed) and 0 < event.answer <= whole.get(event.turn, 0)


def _text(event: Event) -> str:
    """Made by whoever publishes: an event that cannot be written down is theirs to mend, and holds up nobody else."""
    return json.dumps(to_json(event))


def _joined(publications: Sequence[Publication]) -> list[tuple[str, Event]]:
    """Live events in their order; text that continues where the topic's last piece ended is one piece with it."""
    pieces: list[tuple[str, Event]] = []
    last: dict[str, int] = {}
    for topic, event in ((publication.topic, publication.event) for publication in publications):
        before = pieces[last[topic]][1] if topic in last else None
        if isinstance(event, TextStreamed) and isinstance(before, TextStreamed) and _fit(before, event):
            pieces[last[topic]] = (topic, replace(before, text=before.text + event.text))
        else:
            last[topic] = len(pieces)
            pieces.append((topic, event))
    return pieces


def _fit(before: TextStreamed, event: TextStreamed) -> bool:
    goes_on = event.answer == 0 or before.at + len(before.text) == event.at
    return (
        (before.turn, before.answer) == (event.turn, event.answer)
        and goes_on
        and len(before.text) + len(event.text) <= _JOINED
    )


def _known(connection: Connection, publication: Publication) -> Recorded | None:
    if publication.origin is None:
        return None
    row = connection.execute(select(events).where(events.c.origin == publication.origin)).one_or_none()
    return None if row is None else Recorded.read(row.id, row.time, row.data)


def _insert(connection: Connection, publication: Publication, id_: int) -> Recorded:
    now = time.time()
    row = {"topic": publication.topic, "id": id_, "time": now, "data": publication.data, "origin": publication.origin}
    connection.execute(insert(events).values(**row))
    return Recorded.read(id_, now, publication.data)
