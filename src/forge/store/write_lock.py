"""Writers of a SQLite file inside one process, one after the other in the order in which they came.

SQLite lets a writer that finds the file locked sleep and look again, longer each time: who comes late may go first, and
nobody writes while all sleep. Between processes that is all there is.
"""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

from sqlalchemy import Connection, Engine, event
from sqlalchemy.pool import ConnectionPoolEntry

_HELD = "forge_in_turn"
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class InTurn:
    """A lock that goes to whoever has waited longest, which `threading.Lock` does not promise."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()

    def release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def write_in_turn(engine: Engine) -> None:
    """For an engine whose transactions begin with their first write, and end when the connection is returned."""
    lock = InTurn()

    @event.listens_for(engine, "before_cursor_execute")
    def begin(connection: Connection, cursor: object, statement: str, *more: object) -> None:
        del cursor, more
        if _HELD not in connection.info and statement.lstrip().upper().startswith(_WRITES):
            lock.acquire()
            connection.info[_HELD] = True

    @event.listens_for(engine, "checkin")
    def end(connection: object, record: ConnectionPoolEntry) -> None:
        del connection
        if record.info.pop(_HELD, False):
            lock.release()
