"""Other processes with runs: who carries out what is begun here, and what the dead have left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from forge.engine.encoding import error_to_json
from forge.engine.errors import RunWaits
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
        self._left: dict[str, str] = {}
        """Runs of the dead that this process leaves alone, and why."""

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
        lacking = self._lacking(orphans) if orphans else {}
        if self._serve and orphans:
            self._leave(lacking)
            among = (self._worker.id, *self._worker.serving)
            self._here.durable.share_out(orphans, among=among, but=lacking)
        elif self.asked_for and self.taker_name() is None:
            adopted = self._here.durable.adopt(tuple(self.asked_for - lacking.keys()), orphans)
            if adopted and self._taker is not None:
                self._taker.taken_back()
        self._worker.forget(dead)
        self._forget_ended()

    def _lacking(self, orphans: Collection[str]) -> dict[str, str]:
        """Runs that this process could only fail, each with what it lacks. To be cancelled, a run needs nothing."""
        left = self._here.durable.left_by(orphans)
        reasons = {id_: reason for id_, name, arguments in left if (reason := self._here.lacks(name, arguments))}
        cancelled = self._runs.cancel_requested(tuple(reasons))
        return {id_: reason for id_, reason in reasons.items() if id_ not in cancelled}

    def _leave(self, lacking: Mapping[str, str]) -> None:
        for id_, reason in lacking.items():
            if self._left.get(id_) != reason:
                self._runs.leave(id_, error_to_json(RunWaits(reason)))
        self._left = dict(lacking)

    def _forget_ended(self) -> None:
        """Whoever begins runs all day does not remember each of them."""
        if len(self.asked_for) > _REMEMBERED:
            rows = {id_: self._runs.get(id_) for id_ in tuple(self.asked_for)}
            self.asked_for -= {id_ for id_, row in rows.items() if row is None or row.has_ended}
