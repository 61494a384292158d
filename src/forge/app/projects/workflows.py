"""The durable runs of projects: distill, specify, deliver. Each puts together what it needs, in whichever process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from forge.app.admin.plugins import plugins_of
from forge.app.demo_recording import workshop_for
from forge.app.process.workshop import Workshop, journal_of
from forge.app.projects import holds
from forge.app.projects.dependencies import around
from forge.app.projects.run_kinds import DELIVER, DISTILL, SPECIFY
from forge.app.projects.run_needs import project_lacks, project_needs
from forge.engine.errors import RunCancelled
from forge.engine.run import Run
from forge.json_value import Json
from forge.pipeline.delivery_run import deliver
from forge.pipeline.distill_phase import distill
from forge.pipeline.draft import Draft
from forge.pipeline.journey import Journey
from forge.pipeline.specify_phase import specify
from forge.plugins.errors import AgentFailed, AnswerUnusable, OperationBlocked
from forge.projects.info import Waiting
from forge.projects.project import Project
from forge.projects.status import HaltReason, Phase


def register(shop: Workshop) -> None:
    for name, phase in ((DISTILL, _or_halted(distill)), (SPECIFY, _or_halted(specify)), (DELIVER, deliver)):
        shop.engine.register(name, partial(_run, shop, phase), lacks=partial(project_lacks, shop), needs=project_needs)


async def _run(shop: Workshop, phase: Callable[[Journey], Awaitable[Json]], run: Run, arguments: Json) -> Json:
    directory = Path(arguments["directory"])
    try:
        project = await asyncio.to_thread(Project.at, directory)
        shop = await asyncio.to_thread(workshop_for, shop, project)
        journey = await asyncio.to_thread(lambda: Journey(project, run, around(shop, project, run.id)))
        await asyncio.to_thread(_log_surroundings, shop, project)
        done = await phase(journey)
    except RunCancelled:
        raise
    except Exception as e:  # noqa: BLE001 - whatever it is, no project stays in a phase in which nothing works
        from forge.app.projects.failed_run import Unwritten, halt, tell_when_ended  # noqa: PLC0415 - it stands above

        try:
            await asyncio.to_thread(halt, shop, directory, run.id, e)
        except Unwritten as unwritten:
            telling = asyncio.create_task(tell_when_ended(shop, run.id, unwritten))
            shop.tasks.add(telling)
            telling.add_done_callback(shop.tasks.discard)
            raise unwritten.failure from e
        done = {"phase": str(Phase.HALTED)}
    # Not steps: done again after a crash, they do nothing.
    await asyncio.to_thread(_let_go_if_over, directory)
    await asyncio.to_thread(journal_of(shop).forget, run.id)
    return done


def _let_go_if_over(directory: Path) -> None:
    project = Project.at(directory)
    if holds.is_over(project):
        holds.let_go(project)


def _log_surroundings(shop: Workshop, project: Project) -> None:
    """With what settings and plugins a run continues in this process."""
    phase, path = str(project.status().phase), shop.settings.path
    told = str(path) if path is not None and path.exists() else "no settings file, all by default"
    project.log.write("info", "config_loaded", phase, told)
    plugins = plugins_of(shop.settings)
    for name in plugins.loaded:
        project.log.write("info", "plugin_loaded", phase, name)
    for problem in plugins.problems:
        project.log.write("warn", "plugin_loaded", phase, problem)


def _or_halted(phase: Callable[[Journey], Awaitable[Json]]) -> Callable[[Journey], Awaitable[Json]]:
    """Before anything is built, a failing agent ends the run; resuming starts another one."""

    async def run(journey: Journey) -> Json:
        try:
            return await phase(journey)
        except (AgentFailed, AnswerUnusable, OperationBlocked) as e:
            reason = e.message

        def halt(draft: Draft) -> None:
            draft.info = replace(draft.info, waiting=Waiting("halted", reason))
            draft.say(f"Stopped: {reason}")
            draft.move(Phase.HALTED, halt_reason=HaltReason.AGENT_FAILURE)

        journey.project.log.write("error", "halt", str(journey.phase), reason)
        await journey.change(halt, "halted: agent_failure", event_type="error", summary=reason)
        return {"phase": str(Phase.HALTED)}

    return run
