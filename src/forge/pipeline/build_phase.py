"""Building the deliverable: the type's builder at work, people asked when it is stuck, its output checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel

from forge.agents.answer_object import parse_object
from forge.pipeline.baseline import decide_tests, must_ask
from forge.pipeline.material import CHAIN, PLAN, REPOSITORY, RESOURCES, gathered
from forge.pipeline.question_wait import Decision, halted, stuck
from forge.plugins.errors import AgentFailed, AnswerUnusable, DecisionNeeded, OperationBlocked
from forge.plugins.roles import BuildResult, DeliverableType
from forge.projects.status import HaltReason, Phase

if TYPE_CHECKING:
    from forge.pipeline.desk import ProjectDesk
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey


def _passed(draft: Draft) -> None:
    draft.info = replace(draft.info, gate_passed=True)


async def built(journey: Journey, type_: DeliverableType, desk: ProjectDesk, *, chained: bool) -> bool:
    """Until there is something to polish. False: a person ended it."""
    if chained:
        if not await _complete_enough(journey, desk):
            return False
        await journey.change(_passed, "gate: passed")
    while True:
        try:
            result = await type_.build(desk)
            missing = "" if result.stuck else await type_.missing(desk)
        except DecisionNeeded as e:
            result, missing = BuildResult(stuck=True, reason=e.message, needs=e.needs), ""
        except (AgentFailed, AnswerUnusable, OperationBlocked) as e:
            decision = await halted(journey, HaltReason.AGENT_FAILURE, e.message)
            _heed(desk, e.message, decision)
            if decision.action == "terminate":
                return False
            continue
        if not result.stuck and not missing:
            return await _begin_polishing(journey)
        if not await _unstuck(journey, desk, result, missing):
            return False


async def _unstuck(journey: Journey, desk: ProjectDesk, result: BuildResult, missing: str) -> bool:
    if result.tests is not None and must_ask(desk, result.tests):
        return (await decide_tests(journey, desk, result.tests, result.reason)).action != "terminate"
    if result.stuck:
        decision = await stuck(journey, result.reason, result.needs)
    else:
        why = HaltReason.PHASE3_OUTPUT_INCOMPLETE if result.content else HaltReason.PHASE3_OUTPUT_MISSING
        decision = await halted(journey, why, missing)
    _heed(desk, result.reason or missing, decision)
    await desk.refresh()
    return decision.action != "terminate"


def _heed(desk: ProjectDesk, asked: str, decision: Decision) -> None:
    if decision.action == "input":
        desk.answers += (decision.given(asked),)


async def _begin_polishing(journey: Journey) -> bool:
    def move(draft: Draft) -> None:
        draft.move(Phase.POLISHING)
        draft.say("Built. Polishing begins.")

    summary = "The build is complete; polishing begins."
    await journey.change(move, "build: complete", event_type="milestone_complete", summary=summary)
    return True


async def _complete_enough(journey: Journey, desk: ProjectDesk) -> bool:
    """Code that follows a plan: whether the plan says enough to build from. A person may overrule it."""
    material = {"plan": desk.read(PLAN) or "", "spec": desk.spec}
    while True:
        try:
            verdict = await journey.asked(
                "completeness-gate",
                material,
                lambda raw: parse_object(raw, Completeness),
                gather=lambda: gathered(journey, (REPOSITORY, RESOURCES, CHAIN)),
                schema=Completeness,
            )
        except (AgentFailed, AnswerUnusable) as e:
            decision = await halted(journey, HaltReason.AGENT_FAILURE, e.message)
            if decision.action in ("resume", "input"):
                continue
            return decision.action != "terminate"
        if verdict.complete and not verdict.missing:
            return True
        missing = "; ".join(verdict.missing) or "it does not say what"
        decision = await halted(journey, HaltReason.PLAN_INCOMPLETE, f"The plan is not complete enough: {missing}")
        return decision.action != "terminate"


class Completeness(BaseModel):
    complete: bool
    missing: list[str] = []
