"""Other processes with runs: who carries out what is begun here, and what the dead have left."""

from __future__ import annotations

from typing import Protocol

from forge.engine.execution import Execution
from forge.engine.workers import Worker
from forge.store.runs import Runs

_REMEMBERED = 100


class Taker(Protocol):
    """Asked from threads, never on the loop."""

    def pid(self) -> int | None:
        """The process of this machine that is to run what is begun here, if there is one now."""

    def handed(self, run_id: str) -> None:
        """It has the run: nobody else will begin it while it lives."""

    def taken_back(self) -> None:
        """It is gone, and this process goes on with what it had."""


class Others:
    """As one engine sees them."""

    def __init__(self, runs: Runs, here: Execution, worker: Worker, *, serve: bool, taker: Taker | None) -> None:
        self._runs = runs
        self._here = here
        self._worker = worker
        self._serve = serve
        self._taker = taker
        self.asked_for: set[str] = set()
        """Runs to go on with here, as soon as their process is dead."""

    def taker_name(self) -> str | None:
        pid = self._taker.pid() if self._taker is not None else None
        return None if pid is None else self._worker.name_of(pid)

    def has_it(self, run_id: str) -> None:
        if self._taker is not None:
            self._taker.handed(run_id)

    def least_busy(self) -> str | None:
        """Who serves and has less to do than this process; of several the one with the least. None if nobody has."""
        serving = self._worker.serving
        if not serving:
            return None
        loads = self._here.durable.loads((self._worker.id, *serving))
        name = min(loads, key=loads.__getitem__)
        return name if loads[name] < loads[self._worker.id] else None

    def look_after(self) -> None:
        """Take over from the dead; in the heartbeat's thread. Who dies in the middle of it leaves it to the next."""
        # The holders first: who had runs then and has no lease afterwards will never have one again.
        holders = self._here.durable.holders()
        dead = self._worker.find_dead()
        orphans = self._worker.without_lease(holders)
        if orphans:
            self._runs.step_aside(self._here.durable.held_by(orphans))
        if self._serve and orphans:
            self._here.durable.share_out(orphans, among=(self._worker.id, *self._worker.serving))
        elif self.asked_for and self.taker_name() is None:
            adopted = self._here.durable.adopt(tuple(self.asked_for), orphans)
            if adopted and self._taker is not None:
                self._taker.taken_back()
        self._worker.forget(dead)
        self._forget_ended()

    def _forget_ended(self) -> None:
        """Whoever begins runs all day does not remember each of them."""
        if len(self.asked_for) > _REMEMBERED:
            rows = {id_: self._runs.get(id_) for id_ in tuple(self.asked_for)}
            self.asked_for -= {id_ for id_, row in rows.items() if row is None or row.has_ended}
