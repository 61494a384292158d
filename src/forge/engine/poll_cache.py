"""Queues are looked into many times a second, and nearly always nothing waits there.

SQLite tells for next to nothing whether a file was changed by anybody, and for little more whether anything waits on a
queue. While neither is so, the last answer still holds.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

_LONGEST_SECONDS = 1.0
"""What depends on more than the file, such as how much this process has to do, is found no later than this."""

_MOST = 1000
_WAITING = "SELECT 1 FROM workflow_status WHERE queue_name = ? AND status = 'ENQUEUED' LIMIT 1"
CLAIMING = ("start_queued_workflows", "start_queued_partitioned_workflows")
READING = ("get_queue", "count_pending_queue_workflows", "get_queue_partitions")


class Changes:
    """Whether the SQLite file of the runs was written to since the last look, by whichever process, and to what end."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False)

    def version(self) -> int:
        """The same number for as long as nobody writes."""
        with self._lock:
            found: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            return found

    def anything_waits(self, queue: str) -> bool:
        with self._lock:
            return self._connection.execute(_WAITING, (queue,)).fetchone() is not None

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def cache_polls(system_database: Any, changes: Changes) -> None:
    """Let DBOS ask its database about a queue only when it may learn something new."""
    for name in READING:
        setattr(system_database, name, _remembering(getattr(system_database, name), changes, lambda _: True))
    for name in CLAIMING:
        setattr(system_database, name, _remembering(getattr(system_database, name), changes, _found_nothing))


def _found_nothing(claimed: Any) -> bool:
    ids = claimed[0] if isinstance(claimed, tuple) else claimed
    return not ids


def _remembering(ask: Callable[..., Any], changes: Changes, holds: Callable[[Any], bool]) -> Callable[..., Any]:
    """The answers of `ask` that hold until something waits, by the queue and its part that it is asked about."""
    known: dict[Hashable, tuple[int, float, Any]] = {}

    def answer(queue: Any, *rest: Any, **options: Any) -> Any:
        part = rest[2] if len(rest) > 2 else None
        name = getattr(queue, "name", queue)
        key = (name, part)
        version, now = changes.version(), time.monotonic()
        if (
            (last := known.get(key)) is not None
            and now - last[1] < _LONGEST_SECONDS
            and (last[0] == version or not changes.anything_waits(name))
        ):
            return last[2]
        answered = ask(queue, *rest, **options)
        if holds(answered):
            if len(known) > _MOST:
                known.clear()
            known[key] = version, now, answered
        return answered

    return answer
