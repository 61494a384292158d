"""Intent → specification: weak decisions challenged, every unknown resolved, and what counts as finished."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forge.git import Repository
from forge.pipeline.desk import CONSTRAINTS, SPEC, ProjectDesk
from forge.pipeline.draft import Draft, info_of
from forge.pipeline.intent import parse_intent, unknowns
from forge.pipeline.journey import Journey
from forge.pipeline.specification import Answer, parse_answer, question_for, render_constraints, render_spec, unresolved
from forge.plugins.contracts import DeliverableType
from forge.projects.status import Phase

Json = dict[str, Any]
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)


async def specify(journey: Journey) -> Json:
    """Stays in `spec_building`, with `docs/spec.md` and `docs/constraints.md` as drafts and what is still open."""
    around, project = journey.around, journey.project
    type_ = around.types[project.status().deliverable_type or ""]
    desk = ProjectDesk(journey, type_, branch=None, baseline=None)
    await desk.refresh()
    intent = parse_intent(desk.intent, tuple(around.types))
    info = info_of(project)
    discovery = await _discovered(journey, type_, desk)
    answers = tuple(info.get("answers", ()))
    material = {
        "intent": desk.intent,
        "deliverable_type": type_.name,
        "discovery": discovery,
        "answers": list(answers),
        "previous_spec": desk.spec,
        "previous_constraints": desk.constraints,
        "human_edits": bool(_edited(journey, desk)),
        "severities": dict(type_.severities),
    }
    answer = await journey.asked("spec-building", material, lambda raw: parse_answer(raw, type_.name))
    open_ = unresolved(unknowns(intent), answer)
    spec = _kept(
        journey,
        SPEC,
        desk.spec,
        render_spec(intent.name or project.name, answer, type_.name, candidates=discovery.get("table", "")),
    )
    constraints = _kept(
        journey,
        CONSTRAINTS,
        desk.constraints,
        render_constraints(intent.name or project.name, answer, type_.title, type_.severities),
    )

    def done(draft: Draft) -> None:
        draft.write(SPEC, spec)
        draft.write(CONSTRAINTS, constraints)
        draft.info["open"] = [_question(item, answer) for item in open_]
        draft.say(_summary(answer, draft.info["open"]))

    summary = f"{len(open_)} questions are open." if open_ else "Specification and constraints are ready: confirm them."
    written = await journey.change(done, "spec: drafted", event_type="human_needed", summary=summary)
    # What Forge wrote, for telling a person's own edits from it later.
    await journey.change(lambda draft: draft.info.update(drafted=written["commit"]), "spec: noted")
    return {"phase": str(Phase.SPEC_BUILDING), "open": len(open_)}


async def _discovered(journey: Journey, type_: DeliverableType, desk: ProjectDesk) -> Json:
    """Recorded as a whole: what was looked up elsewhere may be told differently when it is asked again."""
    found = await type_.discover(desk)

    async def keep() -> Json:
        return found

    discovery: Json = await journey.steps.step("discovery", keep)
    return discovery


def _question(item: str, answer: Answer) -> Json:
    return {"unknown": item, "question": question_for(item, answer)}


def _base(journey: Journey, path: str) -> str | None:
    """The document as Forge last wrote it."""
    drafted = info_of(journey.project).get("drafted")
    if not drafted:
        return None
    files = Repository.open(journey.project.directory).commit_vfs(drafted)
    return files.read_file(path) if files.file_exists(path) else None


def _edited(journey: Journey, desk: ProjectDesk) -> tuple[str, ...]:
    pairs = ((SPEC, desk.spec), (CONSTRAINTS, desk.constraints))
    return tuple(path for path, text in pairs if (base := _base(journey, path)) is not None and base != text)


def _kept(journey: Journey, path: str, present: str, fresh: str) -> str:
    """The fresh document, with the sections that a person changed as the person left them."""
    base = _base(journey, path)
    if base is None or base == present:
        return fresh
    return merge_sections(base, present, fresh)


def merge_sections(base: str, edited: str, fresh: str) -> str:
    """Section by section: what a person changed stays; what they left alone is renewed; what they added is kept."""
    old, mine, new = (_sections(text) for text in (base, edited, fresh))
    merged = [mine[title] if mine.get(title, old.get(title)) != old.get(title) else new[title] for title in new]
    added = [text for title, text in mine.items() if title not in new and text != old.get(title)]
    gone = {title for title in old if title not in mine}
    kept = [text for title, text in zip(new, merged, strict=True) if title not in gone]
    return "\n\n".join(part.strip("\n") for part in (*kept, *added)) + "\n"


def _sections(text: str) -> dict[str, str]:
    """By heading; what stands before the first is under an empty name."""
    parts = _SECTION.split(text)
    return {part.partition("\n")[0].strip() if part.startswith("## ") else "": part for part in parts if part.strip()}


def _summary(answer: Answer, open_: Sequence[Json]) -> str:
    challenged = "".join(f"\n- {c.decision}: {c.concern} → {c.resolution}" for c in answer.challenges)
    doubts = f"\n\nWhat I questioned:{challenged}" if challenged else ""
    if not open_:
        return f"The specification is in {SPEC}, what counts as finished in {CONSTRAINTS}. Confirm to build it.{doubts}"
    asked = "".join(f"\n{number}. {item['question']}" for number, item in enumerate(open_, 1))
    return f"The specification is drafted in {SPEC}. Before it can be confirmed, please decide:{asked}{doubts}"
