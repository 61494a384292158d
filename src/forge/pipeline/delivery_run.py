"""The durable run from a confirmed specification to the deliverable: build, then polish. It keeps its place in the
queue of runs until it has ended, also while it waits for a person.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from forge.pipeline.baseline import know_baseline
from forge.pipeline.build_phase import built
from forge.pipeline.desk import ProjectDesk
from forge.pipeline.errors import TypeUnknown
from forge.pipeline.outline_run import deliver_outline
from forge.pipeline.polish_phase import polished
from forge.projects.status import Phase

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey
    from forge.plugins.roles import DeliverableType
    from forge.projects.project import Project

PLAN = "plan"
"""The one type of which rules can make an outline."""


async def deliver(journey: Journey) -> Json:
    place = await journey.steps.step("where", lambda: asyncio.to_thread(_where, journey.project))
    type_ = deliverable_type(journey, place["type"])
    branch = await _branch(journey, type_, place)
    desk = ProjectDesk(journey, type_, branch=branch["branch"], baseline=branch["baseline"])
    desk.answers = tuple(place["inputs"])
    desk.compares = bool(branch.get("compares"))
    await desk.refresh()
    if branch.get("compares") and not await know_baseline(journey, desk, branch):
        return {"phase": str(Phase.HALTED)}
    if place["phase"] == Phase.BUILDING and type_.name == PLAN and journey.around.agents.by_rules("plan-build"):
        return await deliver_outline(journey, desk)
    if place["phase"] == Phase.BUILDING and not await built(journey, type_, desk, chained=place["chained"]):
        return {"phase": str(Phase.HALTED)}
    return await polished(journey, type_, desk)


def _where(project: Project) -> Json:
    info, status = project.info(), project.status()
    return {
        "phase": str(status.phase),
        "type": status.deliverable_type,
        "branch": info.branch,
        "baseline": info.baseline,
        "chained": bool(info.chained_from) and not info.gate_passed,
        "inputs": list(info.inputs),
    }


def deliverable_type(journey: Journey, name: str | None) -> DeliverableType:
    if name is None or name not in journey.around.types:
        raise TypeUnknown.among(name, journey.around.types)
    return journey.around.types[name]


async def _branch(journey: Journey, type_: DeliverableType, place: Json) -> Json:
    """Code is built on a branch of its own, from a commit that is fixed at the start.

    `compares`: tests are compared with a run before the work. Runs that an older version began continue without it.
    """
    if not type_.needs_code:
        return {"branch": None, "baseline": None}

    async def begin() -> Json:
        return {**await journey.around.agents.begin_branch(place["branch"], place["baseline"]), "compares": True}

    begun = await journey.steps.step("branch", begin)

    def based(draft: Draft) -> None:
        draft.info = replace(draft.info, baseline=begun["baseline"])

    await journey.change(based, "build: branch")
    return {**begun, "branch": place["branch"]}
