"""The deliverable type `plan`: sections asked for one by one, rendered once, reviewed and mended slot by slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pydantic import BaseModel

from forge.deliverables.plan import answers, fixes
from forge.deliverables.plan.document import Plan, render, tidy, to_json
from forge.deliverables.plan.files import JSON, MARKDOWN, now
from forge.deliverables.plan.outlines import Section, agreed, chosen, outline, outlines, titles_in
from forge.deliverables.plan.placeholders import placeholders
from forge.deliverables.plan.review import SEVERITIES, PlanReview, criteria
from forge.deliverables.plan.safety import PlanSafety
from forge.json_value import Json
from forge.plugins.errors import AnswerUnusable
from forge.plugins.roles import BuildResult, Desk, Issue, ResultView, SafetyRules, Structure, TestResults

_TRIES = 3
OUTLINE = "docs/outline.md"
"""What rules sorted before a model wrote, with what a person changed in it by hand."""


class PlanType:
    """Implements `DeliverableType`."""

    @property
    def name(self) -> str:
        return "plan"

    @property
    def title(self) -> str:
        return "Plan"

    @property
    def description(self) -> str:
        return "a document that people read and follow"

    @property
    def safety(self) -> SafetyRules:
        return PlanSafety()

    @property
    def needs_code(self) -> bool:
        return False

    @property
    def schema(self) -> type[BaseModel]:
        return PlanReview

    @property
    def severities(self) -> Mapping[str, str]:
        return SEVERITIES

    @property
    def structures(self) -> tuple[Structure, ...]:
        return tuple(
            Structure(each.name, each.title, tuple(section.title for section in each.sections)) for each in outlines()
        )

    @property
    def result_view(self) -> ResultView:
        return ResultView("document", MARKDOWN)

    async def discover(self, desk: Desk) -> Json:  # noqa: ARG002 - a plan looks nothing up
        return {}

    async def build(self, desk: Desk) -> BuildResult:
        """Every section is asked for; the document is written when all of them are there."""
        template = outline(chosen(desk.spec, desk.intent))
        shape = agreed(template, titles_in(desk.spec))
        own = () if shape is template else tuple(section.title for section in shape.sections)
        plan = Plan(template=shape.name, title=desk.name, sections=own)
        for section in shape.sections:
            await desk.progress(f"plan: {section.title}")
            given = await _section(desk, plan, section)
            if isinstance(given, str):
                return BuildResult(stuck=True, reason=given)
            plan = plan.with_slots(given)
        text = render(plan)
        await desk.write_all({MARKDOWN: text, JSON: to_json(tidy(plan))}, message="plan: built")
        return BuildResult(stuck=False, content=text)

    async def missing(self, desk: Desk) -> str:
        text = desk.read(MARKDOWN)
        if not text or not text.strip():
            return f"There is no {MARKDOWN}."
        length, least = len(text.strip()), int(desk.thresholds["plan_min_chars"])
        if length < least:
            return f"{MARKDOWN} has {length} characters; a plan has at least {least}."
        return ""

    async def review(self, desk: Desk, tests: TestResults | None) -> str:  # noqa: ARG002 - a plan has no tests
        state = now(desk)
        material = {
            "constraints": desk.constraints,
            "plan": desk.read(MARKDOWN) or "",
            "criteria": list(criteria(desk.constraints)),
        }
        answer = await desk.ask("plan-review", material, gather=("last_findings",), schema=PlanReview)
        return answer if isinstance(state, Plan) else fixes.with_finding(answer, state)

    async def fix(self, desk: Desk, issues: Sequence[Issue], tests: TestResults | None) -> str:  # noqa: ARG002
        state = now(desk)
        if not isinstance(state, Plan):
            told = f"{state} I left {MARKDOWN} as it is and mended nothing in it."
            await desk.say(told)
            return told
        material = {
            "constraints": desk.constraints,
            "plan_slots": dict(state.slots),
            "issues": [asdict(issue) for issue in issues],
        }
        mended, summary = await fixes.mended(desk, state, material)
        if mended.slots != state.slots or desk.read(MARKDOWN) != render(mended):
            await desk.write_all({MARKDOWN: render(mended), JSON: to_json(mended)}, message="plan: mended")
        return summary


def own_words(desk: Desk) -> str:
    """What people wrote or confirmed: words in there are theirs, even if they look like a gap."""
    given = [f"{answer.get('answer', '')}" for answer in desk.answers]
    return "\n".join([desk.intent, desk.spec, desk.constraints, *given])


async def _section(desk: Desk, plan: Plan, section: Section) -> dict[str, str] | str:
    """The texts of one section, or what the agent needs a person for."""
    material: Json = {
        "intent": desk.intent,
        "spec": desk.spec,
        "constraints": desk.constraints,
        "template": plan.template,
        "section": {"id": section.id, "title": section.title},
        "slots": list(section.slots),
        "written": dict(plan.slots),
        "answers": [dict(answer) for answer in desk.answers],
    }
    if sorted_words := desk.read(OUTLINE):
        material["outline"] = sorted_words
    error = ""
    left: tuple[str, ...] = ()
    for _ in range(_TRIES):
        try:
            said = await desk.ask(
                "plan-build", material, gather=("resources",), schema=answers.BuilderForm, complaint=error
            )
            answer = answers.builder_answer(said)
            if answer.stuck:
                return answer.reason.strip()
            for one in answer.decided:
                await desk.say(f"Decided, as you left it to me: {one.decision} Why: {one.reason}")
            slots = answers.section_slots(answer, section.slots)
        except answers.AnswerRejected as refused:
            error, left = str(refused), ()
            continue
        again, left = left, placeholders("\n".join(slots.values()), own_words(desk), quoted=criteria(desk.constraints))
        if not left:
            return slots
        error = f"the text leaves gaps: {', '.join(left)}; write what is meant, or say that you are stuck"
        if again:
            break
    if left:
        return f"The section “{section.title}” was left with gaps twice ({', '.join(left)}). What should be there?"
    raise AnswerUnusable(
        f"The agent gave no usable answer for the section “{section.title}”: {error}.",
        hint="Try again, or use another model.",
    )
