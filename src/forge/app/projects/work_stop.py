"""Stop what Forge does with a project. It halts and can be taken up again, with another model if the person likes."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from forge.app.process.workshop import Workshop
from forge.app.projects.failed_run import Unwritten, halt, tell_when_ended
from forge.app.projects.halted_runs import STOPPED_WORDS, WorkStopped
from forge.app.projects.named_run import run_named
from forge.app.projects.view import state_of
from forge.engine.errors import RunUnknown
from forge.errors import Conflict, Upstream
from forge.projects.project import Project

_PATIENCE = 30.0


class NothingToStop(Conflict):
    code = "nothing_to_stop"


class StillWorking(Upstream):
    code = "still_working"


async def stop_work(shop: Workshop, project: Project) -> None:
    """Cancel the run wherever it is, with the turn that it waits for, and halt the project."""
    run = await asyncio.to_thread(run_named, project)
    if run is None or not (await asyncio.to_thread(state_of, shop, project)).busy:
        raise NothingToStop("Forge is not working on this project.", hint="There is nothing to stop.")
    await end_run(shop, run)
    row = await asyncio.to_thread(shop.engine.status, run)
    if not row.has_ended:
        raise StillWorking("The work has not ended yet; it was asked to stop.", hint="Look again in a moment.")
    # One that ended by itself in the meantime has written its state.
    if row.state == "cancelled":
        try:
            await asyncio.to_thread(halt, shop, project.directory, run, WorkStopped(STOPPED_WORDS))
        except Unwritten as unwritten:  # the run's row tells that it was cancelled
            await tell_when_ended(shop, run, unwritten)


async def end_run(shop: Workshop, run: str) -> None:
    with suppress(RunUnknown):
        await shop.engine.cancel(run)
        await shop.engine.wait(run, _PATIENCE)
