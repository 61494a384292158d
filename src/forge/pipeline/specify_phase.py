"""Intent → specification: weak decisions challenged, every unknown resolved, and what counts as finished."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forge.counts import counted
from forge.pipeline import provenance, resources, sections
from forge.pipeline.desk import CONSTRAINTS, SPEC, ProjectDesk
from forge.pipeline.material import CHAIN, ENVIRONMENT, REPOSITORY, RESOURCES, gathered
from forge.pipeline.specification import Answer, parse_answer, question_for, render_constraints, render_spec, unresolved
from forge.pipeline.specification_form import answer_form
from forge.pipeline.unknown_ids import listed
from forge.plugins.roles import DeliverableType, structure_form_of
from forge.projects.intent import parse_intent, unknowns
from forge.projects.status import Phase

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey

ON_REQUEST: Json = {"on_request": True, "table": "None looked up: the work keeps to what the repository has."}
"""In place of what was looked up, for work on a repository, which mostly needs no other component."""


async def specify(journey: Journey) -> Json:
    """Stays in `spec_building`, with `docs/spec.md` and `docs/constraints.md` as drafts and what is still open."""
    around, project = journey.around, journey.project
    type_ = around.types[(await asyncio.to_thread(project.status)).deliverable_type or ""]
    desk = ProjectDesk(journey, type_, branch=None, baseline=None)
    await desk.refresh()
    intent = parse_intent(desk.intent, tuple(around.types))
    info = await asyncio.to_thread(project.info)
    ruled = around.agents.by_rules("spec-building")
    on_request = type_.needs_code and info.repository is not None and not ruled
    discovery = ON_REQUEST if on_request else await _discovered(journey, type_, desk)
    material: Json = {
        "intent": desk.intent,
        "deliverable_type": type_.name,
        "discovery": discovery,
        "unknowns": listed(unknowns(intent)),
        "answers": list(info.answers),
        "previous_spec": desk.spec,
        "previous_constraints": desk.constraints,
        "human_edits": _is_edited(info.drafted, desk),
        "severities": dict(type_.severities),
        "structure_form": structure_form_of(type_),
    }
    if pages := await _later_pages(journey, info.pages):
        material["later_pages"] = pages
    machine = (ENVIRONMENT,) if type_.needs_code else ()

    async def ask() -> Answer:
        return await journey.asked(
            "spec-building",
            material,
            lambda raw: parse_answer(raw, type_.name, leaves_open=ruled, unknowns=unknowns(intent)),
            gather=lambda: gathered(journey, (REPOSITORY, RESOURCES, CHAIN, *machine)),
            schema=answer_form(type_.name),
        )

    answer = await ask()
    if on_request and answer.lookups:
        material["discovery"] = discovery = await _discovered(journey, type_, desk)
        answer = await ask()
    open_ = unresolved(unknowns(intent), answer)
    called = await asyncio.to_thread(lambda: project.name)
    name = intent.name or called
    spec = render_spec(name, answer, type_.name, candidates=discovery.get("table", ""))
    constraints = render_constraints(name, answer, type_.title, type_.severities)

    def done(draft: Draft) -> None:
        kept = (*draft.redraft(SPEC, spec), *draft.redraft(CONSTRAINTS, constraints))
        draft.info = replace(draft.info, open=tuple(_question(item, answer) for item in open_))
        _note(draft, answer, around.agents.who("spec-building") if not ruled else "")
        draft.end_run(journey.steps.id)
        draft.say(_summary(answer, draft.info.open, kept, ruled=ruled))

    summary = (
        f"{counted(len(open_), 'question is', 'questions are')} open."
        if open_
        else "Specification and constraints are ready: confirm them."
    )
    await journey.change(done, "spec: drafted", event_type="human_needed", summary=summary)
    return {"phase": str(Phase.SPEC_BUILDING), "open": len(open_)}


async def _later_pages(journey: Journey, names: Sequence[str]) -> list[Json]:
    """What people linked to while the specification was made; the intent knows nothing of it."""
    if not names:
        return []

    def look() -> list[Json]:
        found = resources.read(
            journey.project.directory / "resources",
            vision=False,
            max_file_size_mb=journey.around.parameters.max_file_size_mb,
        )
        return [
            {"path": each.path, "text": journey.around.redact(each.text)} for each in found.texts if each.path in names
        ]

    async def read() -> list[Json]:
        return await asyncio.to_thread(look)

    pages: list[Json] = await journey.steps.step("read later pages", read)
    return pages


async def _discovered(journey: Journey, type_: DeliverableType, desk: ProjectDesk) -> Json:
    """Recorded as a whole: what was looked up elsewhere may be told differently when it is asked again."""
    found = await type_.discover(desk)

    async def keep() -> Json:
        return found

    discovery: Json = await journey.steps.step("discovery", keep)
    return discovery


def _note(draft: Draft, answer: Answer, who: str) -> None:
    if who:
        provenance.written_by(draft, "Specification", who)
        return
    left = sum(one.source == "open" for one in answer.resolutions)
    count = counted(left, "point stays", "points stay")
    lines = [f"{provenance.BY_RULES} Decisions are the answers that you gave."]
    provenance.note(draft, "Specification", [*lines, *([f"{count} open."] if left else [])])


def _is_edited(drafted: Mapping[str, Any], desk: ProjectDesk) -> bool:
    pairs = ((SPEC, desk.spec), (CONSTRAINTS, desk.constraints))
    return any(path in drafted and sections.edited(drafted[path], text) for path, text in pairs)


def _question(item: str, answer: Answer) -> Json:
    return {"unknown": item, "question": question_for(item, answer)}


def _summary(answer: Answer, open_: Sequence[Json], kept: Sequence[str], *, ruled: bool) -> str:
    challenged = "".join(f"\n- {_introduced(c.decision)} {c.concern} → {c.resolution}" for c in answer.challenges)
    doubts = f"\n\nWhat I questioned:{challenged}" if challenged else ""
    doubts += f"\n\nAs you edited them: {', '.join(kept)}." if kept else ""
    if not open_:
        then = "Confirm to get the outline: without a model no plan is written." if ruled else "Confirm to build it."
        return f"The specification is in {SPEC}, what counts as finished in {CONSTRAINTS}. {then}{doubts}"
    # The questions themselves are asked by every face, with a field for each answer.
    asked = counted(len(open_), "question is", "questions are")
    return f"The specification is drafted in {SPEC}. {asked} open before it can be confirmed.{doubts}"


def _introduced(decision: str) -> str:
    return decision if decision.endswith("?") else f"{decision.rstrip('.')}:"
