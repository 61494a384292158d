"""A command on projects beside a server: the server runs what it begins, and the person hears what that changes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from forge.app.process.server_lock import named_server
from forge.app.process.settings_difference import differing, notes
from forge.engine.engine import Engine
from forge.settings import Settings


class Handing:
    """Who runs what a command on projects begins: the server of its data directory, whenever there is one."""

    def __init__(self, settings: Settings, tell: Callable[[str], None]) -> None:
        self._settings = settings
        self._tell = tell
        self._lock = threading.Lock()
        self._told: set[int] = set()
        self._runs: tuple[str, ...] = ()
        self._by: int | None = None

    def at_work(self, engine: Engine) -> int | None:
        """The server, if it has something of this command's to do still."""
        return self._by if any(not engine.status(run).has_ended for run in self._runs) else None

    def pid(self) -> int | None:
        server = named_server(self._settings.data_dir)
        return None if server is None else server.pid

    def handed(self, run_id: str) -> None:
        server = named_server(self._settings.data_dir)
        if server is None:  # it has ended since: what it was handed is gone on with here
            return
        with self._lock:
            first = server.pid not in self._told
            self._told.add(server.pid)
            self._by = server.pid
            self._runs = (*self._runs, run_id)
        for line in notes(server, differing(server, self._settings)) if first else ():
            self._tell(line)

    def taken_back(self) -> None:
        with self._lock:
            before, self._by = self._by, None
        if before is not None:
            self._tell(f"forge: the server (process {before}) has ended; this command goes on with its work.")
