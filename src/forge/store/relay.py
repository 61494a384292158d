"""Carries events between processes: PostgreSQL notifies; a SQLite file is watched, which costs microseconds."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Protocol

from sqlalchemy import Connection, func, select

from forge.errors import Upstream
from forge.events import Event, from_json, from_text, to_json
from forge.store.database import Database
from forge.store.follower_lock import Following
from forge.store.listeners import Listeners, Live, Recorded
from forge.store.schema import events, topics

_IDLE = 0.1
_WATCH = 0.02
_CHANNEL = "forge_events"
_PAYLOAD = 7_900  # PostgreSQL takes less than 8,000 bytes
_LIVE_SECONDS = 10.0
_LASTS = "SELECT name, last FROM topics WHERE name IN (SELECT value FROM json_each(?))"
_BETWEEN = "SELECT id, time, data FROM events WHERE topic = ? AND id > ? AND id <= ? ORDER BY id"

Pieces = Sequence[tuple[str, Event]]


class Relay(Protocol):
    def recorded(self, connection: Connection, topic: str, last: int) -> None:
        """Tell the others, in the transaction that records."""

    def send(self, pieces: Pieces) -> None:
        """Push live pieces to the others; best effort, without raising."""

    def start(self) -> None:
        """Listen to the others, from the first follower on."""

    def close(self) -> None: ...


def relay_for(database: Database, listeners: Listeners) -> Relay:
    return SqliteRelay(database, listeners) if database.is_sqlite else PostgresRelay(database, listeners)


class _Watching:
    """A thread that runs while there are followers."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                thread = threading.Thread(target=self._watch, name="forge-events", daemon=True)
                # Where there is no room for another thread, the next follower tries again.
                thread.start()
                self._thread = thread

    def _watch(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)


class SqliteRelay(_Watching):
    """Asks the file for its change counter; live pieces pass through a table whose rows live for seconds, while another
    process follows.
    """

    def __init__(self, database: Database, listeners: Listeners) -> None:
        super().__init__()
        assert database.path is not None
        self._path = str(database.path)
        self._following = Following(database.path.with_name(f"{database.path.name}-followers"))
        self._listeners = listeners
        self._process = uuid.uuid4().hex
        self._sender: sqlite3.Connection | None = None
        self._pruned = 0.0
        self._lasts: dict[str, int] = {}

    def recorded(self, connection: Connection, topic: str, last: int) -> None:
        """The commit itself moves the file's change counter."""

    def start(self) -> None:
        self._following.begin()
        super().start()

    def send(self, pieces: Pieces) -> None:
        if not self._following.has_others():
            return
        now = time.time()
        rows = [(topic, now, self._process, json.dumps(to_json(event))) for topic, event in pieces]
        try:
            sender = self._sender = self._sender or self._connect()
            with sender:
                sender.execute("BEGIN IMMEDIATE")
                sender.executemany("INSERT INTO live_pieces (topic, time, process, data) VALUES (?, ?, ?, ?)", rows)
                if abs(now - self._pruned) > _LIVE_SECONDS:
                    sender.execute(
                        "DELETE FROM live_pieces WHERE time < ? OR time > ?", (now - _LIVE_SECONDS, now + 60)
                    )
                    self._pruned = now
        except sqlite3.Error:
            # A piece that cannot be shown now is in the answer that is recorded later.
            self._sender = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=1.0)
        # Live pieces may be lost in a power cut, so their commits need not wait for the disk.
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                with closing(sqlite3.connect(self._path, isolation_level=None, timeout=1.0)) as connection:
                    self._keep_looking(connection)
            except sqlite3.Error:
                self._stop.wait(_IDLE)

    def _keep_looking(self, connection: sqlite3.Connection) -> None:
        version, seen = -1, None
        while not self._stop.is_set():
            if not self._listeners.wanted.wait(timeout=_IDLE):
                seen = None
                continue
            current = connection.execute("PRAGMA data_version").fetchone()[0]
            if seen is None or current != version:
                version, seen = current, self._look(connection, seen)
            self._stop.wait(_WATCH)

    def _look(self, connection: sqlite3.Connection, seen: int | None) -> int:
        """Find live pieces after `seen` (None: only those to come), wake who has new events; gives the last piece."""
        connection.execute("BEGIN")
        try:
            wanted = json.dumps(self._listeners.topics())
            grown = connection.execute(_LASTS, (wanted,)).fetchall()
            if seen is None:
                seen = int(connection.execute("SELECT coalesce(max(id), 0) FROM live_pieces").fetchone()[0])
            query = "SELECT id, topic, process, data FROM live_pieces WHERE id > ? ORDER BY id LIMIT 1000"
            pieces = connection.execute(query, (seen,)).fetchall()
        finally:
            connection.execute("COMMIT")
        for id_, topic, process, data in pieces:
            seen = id_
            if process != self._process:
                self._listeners.push(topic, Live(from_text(data)))
        # They came before what is recorded now.
        for topic, last in grown:
            if self._lasts.get(topic) != last:
                self._listeners.grown(topic, last, lambda *part: _between(connection, *part))
        self._lasts = dict(grown)
        return seen

    def close(self) -> None:
        super().close()
        self._following.end()
        if self._sender is not None:
            self._sender.close()


def _between(connection: sqlite3.Connection, topic: str, after: int, last: int) -> list[Recorded]:
    return [Recorded.read(*row) for row in connection.execute(_BETWEEN, (topic, after, last))]


class PostgresRelay(_Watching):
    """LISTEN and NOTIFY; a piece too long for a notification is not sent."""

    def __init__(self, database: Database, listeners: Listeners) -> None:
        super().__init__()
        self._database = database
        self._listeners = listeners
        self._process = uuid.uuid4().hex

    def recorded(self, connection: Connection, topic: str, last: int) -> None:
        self._notify(connection, {"topic": topic, "last": last})

    def send(self, pieces: Pieces) -> None:
        try:
            with self._database.transaction() as connection:
                for topic, event in pieces:
                    self._notify(connection, {"topic": topic, "live": to_json(event)})
        except Upstream:
            # A piece that cannot be shown now is in the answer that is recorded later.
            return

    def _notify(self, connection: Connection, message: dict[str, Any]) -> None:
        payload = json.dumps(message | {"process": self._process})
        if len(payload.encode()) < _PAYLOAD:
            connection.execute(select(func.pg_notify(_CHANNEL, payload)))

    def _watch(self) -> None:
        import psycopg  # noqa: PLC0415 - not for those who use SQLite

        address = self._database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while not self._stop.is_set():
            try:
                with psycopg.connect(address, autocommit=True, connect_timeout=10) as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    self._catch_up()
                    while not self._stop.is_set():
                        for notice in connection.notifies(timeout=0.2):
                            self._received(notice.payload)
            except (psycopg.Error, Upstream):
                self._stop.wait(0.5)

    def _catch_up(self) -> None:
        """What happened before, or while nobody listened."""
        following = select(topics).where(topics.c.name.in_(self._listeners.topics()))
        with self._database.reading() as connection:
            for topic, last in connection.execute(following).all():
                self._listeners.grown(topic, last, self._between)

    def _between(self, topic: str, after: int, last: int) -> list[Recorded]:
        part = (events.c.topic == topic, events.c.id > after, events.c.id <= last)
        query = select(events.c.id, events.c.time, events.c.data).where(*part).order_by(events.c.id)
        with self._database.reading() as connection:
            return [Recorded.read(*row) for row in connection.execute(query)]

    def _received(self, payload: str) -> None:
        """What is not understood is passed over: anybody on the database may notify, a newer Forge too."""
        try:
            message = json.loads(payload)
        except (ValueError, RecursionError):
            return
        match message:
            case {"topic": str(topic), "last": int(last)}:
                self._listeners.grown(topic, last, self._between)
            case {"topic": str(topic), "live": live, "process": str(process)} if process != self._process:
                self._listeners.push(topic, Live(from_json(live)))
