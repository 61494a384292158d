"""A review by rules: what can be checked without understanding. The same plan always gets the same review."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from forge.builtin_rules.choices import names_a_range
from forge.builtin_rules.facts import contradictions, facts
from forge.builtin_rules.section_choice import main_section
from forge.builtin_rules.sentences import coverage, sentences, words
from forge.deliverables.plan.document import Plan, StructureChanged, parse
from forge.deliverables.plan.placeholders import placeholders
from forge.deliverables.plan.review import PlanIssue, items, review_of, section_text
from forge.plugins.roles import Severity

_COVERED = 0.6
_FEWEST_WORDS = 3
_QUOTED = re.compile(r"“(.+)”")
_FORMAL = ("Every section has", "No two amounts", "No slot is empty", "There is a section")


def reviewed(material: Mapping[str, Any]) -> str:
    text = str(material.get("plan", ""))
    constraints = str(material.get("constraints", ""))
    wanted = [str(one) for one in material.get("criteria") or items(section_text(constraints, "Acceptance Criteria"))]
    try:
        plan = parse(text)
    except StructureChanged as changed:
        # A person shaped the document: then its text alone is looked at.
        return review_of(
            [*_gaps_in(text, "docs/plan.md", constraints), *_uncovered(text, wanted, constraints, None)]
            or [_issue(Severity.MINOR, changed.message, "docs/plan.md", changed.hint)]
        ).model_dump_json(indent=2)
    body = "\n".join(one for slot, one in plan.slots.items() if not slot.startswith("acceptance."))
    issues = [*_slots(plan, constraints), *_uncovered(body, wanted, constraints, plan), *_clashes(body)]
    return review_of(issues).model_dump_json(indent=2)


def _issue(severity: Severity, description: str, location: str, recommendation: str) -> PlanIssue:
    return PlanIssue(severity=severity, description=description, location=location, recommendation=recommendation)


def _slots(plan: Plan, own_words: str) -> Iterator[PlanIssue]:
    for slot, text in plan.slots.items():
        if slot.startswith("acceptance."):
            # It repeats the criteria, and one of them may forbid a word by naming it.
            continue
        yield from _gaps_in(text, slot, own_words)
        if len(text.split()) < _FEWEST_WORDS and not facts(text):
            yield _issue(
                Severity.MEDIUM if not text else Severity.MINOR,
                f"The slot {slot} says hardly anything: “{text}”.",
                slot,
                f"Say more in {slot}.",
            )


def _gaps_in(text: str, location: str, own_words: str) -> Iterator[PlanIssue]:
    for gap in placeholders(text, own_words):
        yield _issue(
            Severity.CRITICAL,
            f"“{gap}” in {location} stands where something should be said.",
            location,
            f"Say what is meant in {location} instead of “{gap}”.",
        )


def _uncovered(body: str, wanted: list[str], constraints: str, plan: Plan | None) -> Iterator[PlanIssue]:
    there = words(body)
    priorities = items(section_text(constraints, "Priorities"))
    for severity, kind, one in (
        *((Severity.MEDIUM, "acceptance criterion", one) for one in wanted if not one.startswith(_FORMAL)),
        *((Severity.MINOR, "priority", one) for one in priorities),
    ):
        quoted = _QUOTED.search(one)
        essence = quoted[1].rstrip(" …") if quoted else one
        if coverage(words(essence), there) >= _COVERED:
            continue
        slot = f"{main_section(plan.outline, essence).id}.details" if plan else "docs/plan.md"
        yield _issue(severity, f"The plan does not cover this {kind}: {one}", slot, f"Work it out in {slot}: {essence}")


def _clashes(body: str) -> Iterator[PlanIssue]:
    # A range is no contradiction: the plan says which number of it counts.
    pairs = contradictions([one for one in sentences(body) if not names_a_range(one)])
    if pairs:
        told = "; ".join(f"“{one.text}” and “{other.text}”" for one, other in pairs)
        yield _issue(
            Severity.MEDIUM,
            f"Amounts of the same thing differ: {told}.",
            "docs/plan.md",
            "Say which of them counts.",
        )
