"""What Forge gathers for an agent besides the question: the repository, the machine, resources, a plan, changes.

It is read when the agent is really asked, inside the recorded step, so that a replay reads nothing again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from forge.pipeline import resources

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.journey import Journey

PLAN = "resources/plan.md"
"""The finished plan that code is built from, where a project follows one."""
ROUNDS = "polish_rounds.jsonl"
REPOSITORY, ENVIRONMENT, RESOURCES, CHAIN, CHANGES, FINDINGS = (
    "repository",
    "environment",
    "resources",
    "plan",
    "changes",
    "last_findings",
)
_RESOURCE_CHARACTERS = 60_000
"""All of them together. Who works on a branch reads more of one with `read_resource`."""


async def gathered(
    journey: Journey, names: Collection[str], *, branch: str | None = None, baseline: str | None = None
) -> Json:
    """The texts that `names` ask for, by key; what there is not has no key."""
    agents = journey.around.agents
    found: Json = {}
    if REPOSITORY in names:
        found |= await agents.repository()
    if ENVIRONMENT in names and ENVIRONMENT not in found:
        found[ENVIRONMENT] = await agents.environment()
    if RESOURCES in names:
        found[RESOURCES] = await asyncio.to_thread(resource_text, journey, without=CHAIN in names)
    if CHAIN in names:
        found[CHAIN] = await asyncio.to_thread(plan_text, journey)
    if CHANGES in names and branch is not None:
        found |= await agents.changes(branch, baseline)
    if FINDINGS in names:
        found[FINDINGS] = await asyncio.to_thread(_last_findings, journey)
    return {key: text for key, text in found.items() if text}


def plan_text(journey: Journey) -> str:
    if journey.project.info().chained_from is None:
        return ""
    return journey.around.redact(journey.project.records.read(PLAN) or "")


def resource_text(journey: Journey, *, without: bool = False) -> str:
    """What the person gave, as plain text; `without` the plan that the project follows."""
    read = resources.read(
        journey.project.directory / "resources",
        vision=False,
        max_file_size_mb=journey.around.parameters.max_file_size_mb,
        text_budget=_RESOURCE_CHARACTERS,
    )
    left_out = PLAN.removeprefix("resources/") if without and journey.project.info().chained_from else None
    parts = [_headed(each) for each in read.texts if each.path != left_out]
    parts += [f"=== {each.path}: not read, {each.reason}" for each in read.skipped]
    return journey.around.redact("\n\n".join(parts))


def _headed(resource: resources.Resource) -> str:
    note = f" ({resource.note})" if resource.note else ""
    return f"=== {resource.path}{note}\n{resource.text.rstrip()}"


def _last_findings(journey: Journey) -> str:
    """Of the review before this one."""
    lines = [line for line in (journey.project.records.read(ROUNDS) or "").splitlines() if line.strip()]
    return "\n".join(_finding(issue) for issue in json.loads(lines[-1])["issues"]) if lines else ""


def _finding(issue: Mapping[str, Any]) -> str:
    return f"- [{issue['severity']}] {issue['location']}: {issue['description']} → {issue['recommendation']}"
