"""The built-in engine after the intent: questions instead of guesses, decisions only by people, criteria to check."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge.builtin_rules import answer
from forge.builtin_rules.choices import names_a_range
from forge.builtin_rules.corrections import corrected
from forge.deliverables.plan.document import Plan, render, tidy
from forge.deliverables.plan.outlines import outline
from forge.deliverables.plan.review import PlanReview
from forge.pipeline.specification import parse_answer
from forge.projects.errors import AnswerMalformed

QUESTION = "You wrote: “We are not sure whether June or September is better.” Which is it?"
INTENT = f"""# Garden Wedding

## Deliverable Type

Plan — because of the words.

## Objective

We want a garden wedding for 80 guests.

## Assumptions

- Probably it will not rain.

## Constraints

- Budget is 15,000 euro.
- No church.
- The photographer must not cost more than 1200 euro.
- Six guests are vegan.

## Unknowns

- Maybe a band.

## Open Questions

- {QUESTION}
"""


def specified(*answers: tuple[str, str], intent: str = INTENT) -> dict[str, Any]:
    material = {
        "intent": intent,
        "discovery": {},
        "answers": [{"question": question, "answer": given} for question, given in answers],
        "previous_spec": "",
        "previous_constraints": "",
        "human_edits": False,
        "deliverable_type": "plan",
    }
    given = answer("spec-building", material)
    parse_answer(given, "plan", leaves_open=True)
    return dict(json.loads(given))


@pytest.mark.req("P-05", "B-05")
def test_a_choice_is_asked_and_a_maybe_stays_open() -> None:
    value = specified()
    assert value["questions"] == [{"unknown": QUESTION, "question": QUESTION}]
    (maybe,) = value["resolutions"]
    assert (maybe["unknown"], maybe["source"]) == ("Maybe a band.", "open")


@pytest.mark.req("P-05")
def test_an_answer_resolves_its_unknown_as_the_persons_own() -> None:
    value = specified((QUESTION, "September"), ("Maybe a band.", "Yes, a band"))
    found = {one["unknown"]: (one["resolution"], one["source"]) for one in value["resolutions"]}
    assert value["questions"] == []
    assert found == {QUESTION: ("September", "human"), "Maybe a band.": ("Yes, a band", "human")}


@pytest.mark.req("P-05", "B-05")
@pytest.mark.parametrize("given", ["you decide", "Let AI decide.", "I don't care", "not sure", "TBD", ""])
def test_words_that_decide_nothing_leave_the_question_open(given: str) -> None:
    value = specified((QUESTION, given))
    (resolution,) = [one for one in value["resolutions"] if one["unknown"] == QUESTION]
    assert (resolution["source"], value["spec"]["decisions"]) == ("open", [])


@pytest.mark.req("P-05")
def test_only_rules_may_leave_something_open() -> None:
    with pytest.raises(AnswerMalformed, match="source `open`"):
        parse_answer(json.dumps(specified()), "plan")


@pytest.mark.parametrize(
    ("said", "is_range"),
    [
        ("We are 10 to 12 people.", True),
        ("Between 300 and 350 guests.", True),
        ("We can spend 1,000 to 1,500 euros.", True),
        ("It is on 10-12 June.", False),
        ("From 2 to 4 pm.", False),
        ("12 people, 3 cars.", False),
    ],
)
def test_ranges_are_told_from_times_and_lists(said: str, *, is_range: bool) -> None:
    assert names_a_range(said) is is_range


def test_the_second_one_is_an_answer() -> None:
    (resolution,) = [
        one for one in specified((QUESTION, "the second one"))["resolutions"] if one["unknown"] == QUESTION
    ]
    assert (resolution["resolution"], resolution["source"]) == ("September", "human")


@pytest.mark.req("P-05")
def test_there_are_five_to_ten_criteria_and_every_section_of_the_template() -> None:
    small = "# X\n\n## Deliverable Type\n\nPlan\n\n## Objective\n\nSome party.\n"
    many = INTENT.replace("- No church.", "\n".join(f"- No thing {number}." for number in range(30)))
    for intent in (INTENT, small, many):
        assert 5 <= len(specified(intent=intent)["constraints"]["criteria"]) <= 10
    value = specified()
    assert value["spec"]["structure"]["template"] == "wedding"
    assert value["spec"]["structure"]["sections"] == [one.title for one in outline("wedding").sections]
    assert value["spec"]["excluded"][0] == "No church."


def a_plan(**changed: str) -> Plan:
    shape = outline("wedding")
    texts = dict.fromkeys(shape.slots, "Budget is 15,000 euro and that is it.")
    return tidy(Plan("wedding", "T", {**texts, **{slot.replace("__", "."): text for slot, text in changed.items()}}))


def reviewed(plan: Plan | str, *criteria: str, constraints: str = "") -> PlanReview:
    text = plan if isinstance(plan, str) else render(plan)
    material = {"constraints": constraints, "plan": text, "criteria": list(criteria)}
    return PlanReview.model_validate_json(answer("plan-review", material))


@pytest.mark.req("P-09")
def test_a_criterion_that_is_not_covered_is_found() -> None:
    plan = a_plan()
    criteria = ("The plan keeps to this: “Budget is 15,000 euro.”", "The plan names a shuttle bus for old relatives")
    (issue,) = reviewed(plan, *criteria).issues
    assert (issue.severity, issue.location) == ("medium", "travel.details")
    assert "shuttle bus" in issue.description


@pytest.mark.req("P-09")
def test_a_priority_that_is_not_covered_is_minor() -> None:
    review = reviewed(a_plan(), constraints="## Priorities\n\n- Quiet evening for neighbours\n")
    assert [issue.severity for issue in review.issues] == ["minor"]


@pytest.mark.req("P-09")
def test_gaps_are_critical() -> None:
    plan = a_plan(travel__plan="Hotel TBD, ask the village.")
    review = reviewed(plan)
    assert [issue.severity for issue in review.issues] == ["critical"]


@pytest.mark.req("P-09")
def test_short_slots_and_contradictions_are_found() -> None:
    short = reviewed(a_plan(travel__plan="Bus"))
    assert [(issue.severity, issue.location) for issue in short.issues] == [("minor", "travel.plan")]
    clash = reviewed(a_plan(travel__plan="The budget is 900 euro."))
    assert [issue.severity for issue in clash.issues] == ["medium"]
    assert "15,000" in clash.issues[0].description
    assert "900" in clash.issues[0].description


@pytest.mark.req("P-09")
def test_a_range_and_the_number_that_counts_do_not_contradict_each_other() -> None:
    plan = a_plan(guests__plan="About 60 people will come, maybe 70.", guests__assessment="To be kept: 70 people.")
    assert reviewed(plan).issues == []


@pytest.mark.req("P-09")
def test_a_document_of_another_shape_is_still_reviewed() -> None:
    review = reviewed("# Mine\n\nWe meet at noon.\n", "The plan names a shuttle bus")
    assert [issue.location for issue in review.issues] == ["docs/plan.md"]
    (changed,) = reviewed("# Mine\n\nWe meet at noon.\n", "We meet at noon").issues
    assert "structure of the plan was changed" in changed.description


@pytest.mark.req("P-07")
def test_the_gate_names_what_a_plan_does_not_say() -> None:
    whole = json.loads(answer("completeness-gate", {"plan": render(a_plan()), "spec": ""}))
    assert whole == {"complete": True, "missing": []}
    assert not json.loads(answer("completeness-gate", {"plan": "Soon. TBD", "spec": ""}))["complete"]


@pytest.mark.req("P-04")
def test_a_correction_with_two_facts_loses_neither() -> None:
    said = corrected(["The budget is 2000 euros."], "The budget is 3000 and it is in August.")
    assert "The budget is 3000 euros." in said
    assert "August" in " ".join(said)
