"""Mending a plan: only slots that exist are replaced, and only with texts that leave its structure whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from forge.counts import counted
from forge.deliverables.plan import answers
from forge.deliverables.plan.document import Plan, parse, render
from forge.deliverables.plan.placeholders import placeholders
from forge.deliverables.plan.review import PlanIssue, PlanReview, criteria, review_of
from forge.plugins.errors import AnswerUnusable
from forge.plugins.roles import Desk, Severity

_TRIES = 3


async def mended(desk: Desk, plan: Plan, material: Mapping[str, Any]) -> tuple[Plan, str]:
    """The plan with what the agent changed, and a line on it."""
    own = "\n".join([desk.intent, desk.spec, desk.constraints, *plan.slots.values()])
    error = ""
    for _ in range(_TRIES):
        try:
            answer = answers.fix_answer(await desk.ask("plan-fix", material, complaint=error))
            changed = applied(plan, answer.slots, own, quoted=criteria(desk.constraints))
        except answers.AnswerRejected as refused:
            error = str(refused)
            continue
        return changed, answer.summary.strip() or f"Changed {counted(len(answer.slots), 'slot')}."
    raise AnswerUnusable(f"The agent gave no usable fix: {error}.", hint="Resume to try again, or use another model.")


def applied(plan: Plan, slots: Mapping[str, str], own_words: str, *, quoted: Sequence[str] = ()) -> Plan:
    unknown = [slot for slot in slots if slot not in plan.outline.slots]
    if unknown:
        raise answers.AnswerRejected(f"there are no such slots: {', '.join(unknown)}")
    changed = plan.with_slots(slots)
    empty = [slot for slot in plan.outline.slots if not changed.slots.get(slot)]
    if empty:
        raise answers.AnswerRejected(f"these slots would be empty: {', '.join(empty)}")
    gaps = placeholders("\n".join(slots.values()), own_words, quoted=quoted)
    if gaps:
        raise answers.AnswerRejected(f"the text leaves gaps: {', '.join(gaps)}")
    if parse(render(changed)) != changed:
        raise answers.AnswerRejected("the text would break the structure of the plan")
    return changed


def with_finding(answer: str, what: str) -> str:
    """The review with one finding more. An answer that is no review is left to whoever checks it."""
    try:
        review = PlanReview.model_validate(json.loads(answer))
    except (ValueError, ValidationError):
        return answer
    finding = PlanIssue(
        severity=Severity.MINOR,
        description=what,
        location="docs/plan.md",
        recommendation="Put the headings and tables of the template back, or accept the document as it is.",
    )
    return review_of([*review.issues, finding]).model_dump_json()
