"""Other processes with runs on the same data: which of them executes a run, and what dead ones have left."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from forge.engine.encoding import error_to_json
from forge.engine.errors import RunWaits
from forge.engine.execution import BEGUN_BY, Execution
from forge.engine.run import Run
from forge.engine.workers import Worker
from forge.json_value import Json
from forge.store.runs import Runs

_REMEMBERED = 100
_LOOK_AGAIN = 0.5


class Peers:
    """As one engine sees them."""

    def __init__(self, runs: Runs, here: Execution, worker: Worker, *, serve: bool) -> None:
        self._runs = runs
        self._here = here
        self._worker = worker
        self._serve = serve
        self.asked_for: set[str] = set()
        """Runs to continue here as soon as their process is dead."""
        self._left: dict[str, str] = {}
        """Runs of the dead that this process leaves alone, and why."""

    def least_busy(self, name: str, arguments: Json) -> str | None:
        """Who serves, has what the run needs and has less to do than this process; of several the one with the least.
        None if nobody has.
        """
        able = self._able(name, arguments)
        if not able:
            return None
        loads = self._here.durable.loads((self._worker.id, *able))
        chosen = min(able, key=loads.__getitem__)
        if loads[chosen] < loads[self._worker.id]:
            return chosen
        return chosen if self._here.lacks(name, arguments) else None

    def _able(self, name: str, arguments: Json) -> tuple[str, ...]:
        """Those who serve besides this process and have what such a run needs."""
        needs = self._here.needs(name, arguments)
        return tuple(each for each, offers in self._worker.offers.items() if needs <= offers)

    async def stays_here(self, run: Run, name: str, payload: Json) -> bool:
        """False: another process has the run now, for this one lacks what it needs. Waits while nobody has that.

        A run that was begun here stays, to fail with the reason.
        """
        first = True
        while not run.is_cancelled and (
            reason := await asyncio.to_thread(self._here.lacks, name, payload["arguments"])
        ):
            able = await asyncio.to_thread(self._able, name, payload["arguments"])
            if able:
                await asyncio.to_thread(self._here.durable.pass_on, run.id, able[0])
                return False
            if payload.get(BEGUN_BY, self._worker.id) == self._worker.id:
                return True
            if first:
                self._worker.publish_offers()  # whoever passed it on may have been wrong about this process
                await asyncio.to_thread(self._runs.leave, run.id, error_to_json(RunWaits(reason)))
                await asyncio.to_thread(self._here.durable.leave_queue, run.id)
                first = False
            await asyncio.sleep(_LOOK_AGAIN)
        return True

    def look_after(self) -> None:
        """Take over from the dead; in the heartbeat's thread. Who dies in the middle of it leaves it to the next."""
        # The holders first: who had runs then and has no lease afterwards will never have one again.
        holders = self._here.durable.holders()
        dead = self._worker.find_dead()
        orphans = self._worker.without_lease(holders)
        if orphans:
            self._runs.step_aside(self._here.durable.held_by(orphans))
        if self._serve and orphans:
            self._share_out(orphans)
        elif self.asked_for:
            lacking = self._lacking(self._here.durable.left_by(orphans)) if orphans else {}
            self._here.durable.adopt(tuple(self.asked_for - lacking.keys()), orphans)
        self._worker.forget(dead)
        self._forget_ended()

    def _share_out(self, orphans: Collection[str]) -> None:
        left = self._here.durable.left_by(orphans)
        lacking = self._lacking(left)
        able = {id_: self._able(name, arguments) for id_, name, arguments in left}
        for id_ in able.keys() - lacking.keys():
            able[id_] = (self._worker.id, *able[id_])
        self._leave({id_: reason for id_, reason in lacking.items() if not able[id_]})
        self._here.durable.share_out(orphans, able=able)

    def _lacking(self, left: Sequence[tuple[str, str, Json]]) -> dict[str, str]:
        """Runs that this process could only fail, each with what it lacks. To be cancelled, a run needs nothing."""
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
