"""The built-in engine after the intent: questions instead of guesses, criteria to check, amounts where they belong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge.deliverables.plan import Plan, PlanReview, outline, render
from forge.deliverables.plan.document import tidy
from forge.deliverables.plan.placeholders import placeholders
from forge.pipeline.rules import answer
from forge.pipeline.rules.choices import figure, outcome
from forge.pipeline.rules.corrections import corrected
from forge.pipeline.rules.reading import Decided, settled
from forge.pipeline.specification import parse_answer, render_constraints, render_spec

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
    parse_answer(given, "plan")
    return dict(json.loads(given))


def material_for(section: str, *answers: tuple[str, str], intent: str = INTENT) -> dict[str, Any]:
    value = parse_answer(json.dumps(specified(*answers, intent=intent)), "plan")
    shape = outline("wedding")
    one = next(one for one in shape.sections if one.id == section)
    return {
        "intent": intent,
        "spec": render_spec("Garden Wedding", value, "plan"),
        "constraints": render_constraints("Garden Wedding", value, "Plan", {}),
        "template": "wedding",
        "section": {"id": one.id, "title": one.title},
        "slots": list(one.slots),
        "written": {},
        "answers": [],
    }


def slots(section: str, *answers: tuple[str, str], intent: str = INTENT) -> dict[str, str]:
    given = json.loads(answer("plan-build", material_for(section, *answers, intent=intent)))
    assert not given["stuck"]
    return {slot.partition(".")[2]: text for slot, text in json.loads(given["content"]).items()}


@pytest.mark.req("P-05")
def test_a_choice_is_asked_and_a_maybe_stays_an_option_by_a_stated_rule() -> None:
    value = specified()
    assert value["questions"] == [{"unknown": QUESTION, "question": QUESTION}]
    (maybe,) = value["resolutions"]
    assert (maybe["unknown"], maybe["source"]) == ("Maybe a band.", "ai")
    assert maybe["resolution"].startswith("By rule: what is only a maybe stays an option")


@pytest.mark.req("P-05")
def test_an_answer_resolves_its_unknown_as_the_persons_own() -> None:
    value = specified((QUESTION, "September"), ("Maybe a band.", "Yes, a band"))
    found = {one["unknown"]: (one["resolution"], one["source"]) for one in value["resolutions"]}
    assert value["questions"] == []
    assert found == {QUESTION: ("September", "human"), "Maybe a band.": ("Yes, a band", "human")}


@pytest.mark.req("P-05")
@pytest.mark.parametrize("given", ["you decide", "Let AI decide.", "I don't care", "not sure", "TBD", ""])
def test_a_question_handed_back_is_settled_by_a_stated_rule(given: str) -> None:
    (resolution,) = [one for one in specified((QUESTION, given))["resolutions"] if one["unknown"] == QUESTION]
    assert resolution["source"] == "ai"
    assert resolution["resolution"] == (
        "By rule: of several choices the first one named is the plan: June. The other one: September."
    )


@pytest.mark.req("P-05")
@pytest.mark.parametrize(
    ("unknown", "settled"),
    [
        ("You wrote: “Either a band or just a playlist.” Which is it?", "the plan: a band. The other one: a playlist."),
        (
            "You wrote: “Either we rent a tent or we move to the gym if it rains.” Which is it?",
            "the plan: rent a tent. The other one: move to the gym if it rains.",
        ),
        (
            "You asked: “Do we hire a company or do it ourselves?” What is the answer?",
            "hire a company. The other one: do it ourselves.",
        ),
        ("You wrote: “Kafka or Kinesis, not decided.” Which is it?", "the plan: Kafka. The other one: Kinesis."),
        ("You wrote: “Not sure which tool to use, Mailchimp or Ghost.” Which is it?", "the plan: Mailchimp."),
        ("You asked: “Pizza, pasta or salad?” What is the answer?", "the plan: Pizza. The other one: salad."),
        ("You wrote “80 guests” and “100 guests”. Which one counts?", "the later one counts, “100 guests”"),
        ("You asked: “Who keeps the key?” What is the answer?", "what is open is decided before"),
        (
            "You wrote: “I am not sure whether we need a permit.” What is decided?",
            "nobody is sure of is found out first",
        ),
        ("About 60 people will come, maybe 70.", "the plan counts with the larger number: 70 people."),
        ("Maybe a band.", "stays an option"),
    ],
)
def test_whatever_is_handed_back_is_settled_by_a_rule_and_nothing_is_left_out(unknown: str, settled: str) -> None:
    assert settled in outcome(unknown).rule
    assert outcome(unknown).rule.startswith("By rule: ")
    assert "left out" not in outcome(unknown).rule


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("We are 10 to 12 people.", "12 people"),
        ("Between 300 and 350 guests.", "350 guests"),
        ("We can spend 1,000 to 1,500 euros.", "1,000 euros"),
        ("It is on 10-12 June.", ""),
        ("From 2 to 4 pm.", ""),
        ("12 people, 3 cars.", ""),
    ],
)
def test_of_a_range_the_larger_number_counts_and_of_money_the_smaller(said: str, number: str) -> None:
    assert figure(said).rpartition(": ")[2].rstrip(".") == number


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


@pytest.mark.req("P-05")
def test_assumptions_and_missing_dates_are_challenged() -> None:
    decisions = [one["decision"] for one in specified()["challenges"]]
    assert "Probably it will not rain." in decisions
    assert "The plan has no sum of money." not in decisions


@pytest.mark.req("P-06")
def test_sentences_and_amounts_land_in_their_sections() -> None:
    asked = (QUESTION, "June")
    assert "We want a garden wedding for 80 guests." in slots("overview", asked)["objective"]
    assert "80 guests." in slots("guests", asked)["plan"]
    assert "vegan" not in slots("guests", asked)["plan"]
    assert "Budget is 15,000 euro." in slots("budget", asked)["plan"]
    assert "1200 euro" in slots("budget", asked)["plan"]
    assert "Budget is 15,000 euro" in slots("budget", asked)["assessment"]
    assert slots("catering", asked)["plan"] == "Six guests are vegan."
    assert slots("ceremony", asked)["plan"] == "No church."
    assert "The photographer must not cost" in slots("looks", asked)["plan"]
    assert "Decided: June" in slots("venue", asked)["plan"]
    assert "- Maybe a band." in slots("celebration", asked)["details"]
    assert "- Probably it will not rain." in slots("venue", asked)["details"]


@pytest.mark.req("P-06", "X-03")
def test_what_nobody_said_is_said_to_be_unsaid() -> None:
    travel = slots("travel", (QUESTION, "June"))
    assert travel["plan"] == "By rule: nothing was said about travel and where guests sleep, so nothing is fixed here."
    assert travel["objective"] == next(one for one in outline("wedding").sections if one.id == "travel").objective
    assert "rooms for the night" in travel["details"]


@pytest.mark.req("P-06")
def test_an_amount_that_was_decided_later_counts_everywhere() -> None:
    clash = "You wrote “80 guests” and “100 guests”. Which one counts?"
    intent = INTENT.replace(f"- {QUESTION}", f"- {clash}").replace("- No church.", "- 100 guests.")
    text = json.dumps([slots(section, (clash, "80"), intent=intent) for section in ("overview", "guests")])
    assert "100 guests." not in text
    assert "80 guests" in text


@pytest.mark.req("P-06")
def test_answers_of_a_stuck_build_and_decisions_written_by_hand_are_in_the_plan() -> None:
    material = material_for("catering", (QUESTION, "June"))
    material["spec"] = material["spec"].replace(
        "## Key Decisions\n\n", "## Key Decisions\n\n- The cake is made by Eva.\n"
    )
    material["answers"] = [{"question": "Which meal?", "answer": "A barbecue for everybody"}]
    content = json.loads(answer("plan-build", material))["content"]
    assert "The cake is made by Eva." in content
    assert "Decided: A barbecue for everybody" in content


def a_plan(**changed: str) -> Plan:
    shape = outline("wedding")
    texts = dict.fromkeys(shape.slots, "Budget is 15,000 euro and that is it.")
    return tidy(Plan("wedding", "T", {**texts, **{slot.replace("__", "."): text for slot, text in changed.items()}}))


def reviewed(plan: Plan | str, *criteria: str, constraints: str = "") -> PlanReview:
    text = plan if isinstance(plan, str) else render(plan)
    material = {"constraints": constraints, "plan": text, "criteria": list(criteria)}
    return PlanReview.model_validate_json(answer("plan-review", material))


def mended(plan: Plan, review: PlanReview) -> Plan:
    issues = [issue.model_dump(mode="json") for issue in review.issues]
    given = json.loads(answer("plan-fix", {"constraints": "", "plan_slots": dict(plan.slots), "issues": issues}))
    assert given["summary"].startswith("By rule: ")
    return plan.with_slots(given["slots"])


@pytest.mark.req("P-09")
def test_a_criterion_that_is_not_covered_is_found_and_mended() -> None:
    plan = a_plan()
    criteria = ("The plan keeps to this: “Budget is 15,000 euro.”", "The plan names a shuttle bus for old relatives")
    (issue,) = reviewed(plan, *criteria).issues
    assert (issue.severity, issue.location) == ("medium", "travel.details")
    assert "shuttle bus" in issue.description
    after = mended(plan, reviewed(plan, *criteria))
    assert "not yet worked out: The plan names a shuttle bus" in after.slots["travel.details"]
    assert reviewed(after, *criteria).issues == []
    assert {slot for slot in plan.slots if plan.slots[slot] != after.slots[slot]} == {"travel.details"}


@pytest.mark.req("P-09")
def test_a_priority_that_is_not_covered_is_minor() -> None:
    review = reviewed(a_plan(), constraints="## Priorities\n\n- Quiet evening for neighbours\n- By rule: something\n")
    assert [issue.severity for issue in review.issues] == ["minor"]


@pytest.mark.req("P-09")
def test_gaps_are_critical_and_taken_out() -> None:
    plan = a_plan(travel__plan="Hotel TBD, ask the village.")
    review = reviewed(plan)
    assert [issue.severity for issue in review.issues] == ["critical"]
    after = mended(plan, review)
    assert not placeholders(after.slots["travel.plan"])
    assert reviewed(after).issues == []


@pytest.mark.req("P-09")
def test_short_slots_and_contradictions_are_found() -> None:
    short = reviewed(a_plan(travel__plan="Bus"))
    assert [(issue.severity, issue.location) for issue in short.issues] == [("minor", "travel.plan")]
    clash = reviewed(a_plan(travel__plan="The budget is 900 euro."))
    assert [issue.severity for issue in clash.issues] == ["medium"]
    assert "15,000" in clash.issues[0].description
    assert "900" in clash.issues[0].description
    assert mended(a_plan(), clash) == a_plan()


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
    silent = a_plan(travel__plan="By rule: nothing was said about travel, so nothing is fixed here.")
    assert json.loads(answer("completeness-gate", {"plan": render(silent), "spec": ""})) == {
        "complete": False,
        "missing": ["Nothing was said about travel and where guests sleep."],
    }
    assert not json.loads(answer("completeness-gate", {"plan": "Soon. TBD", "spec": ""}))["complete"]


@pytest.mark.req("P-05")
def test_an_answer_changes_only_amounts_that_were_asked_about() -> None:
    said = ("We want a party for 40 colleagues.",)
    by_the_way = Decided("2-3 colleagues bring instruments", "Who brings the music?")
    assert settled(said, (by_the_way,)) == said
    asked = Decided("45", "You wrote 40 colleagues and 50 colleagues. Which is it?")
    assert settled(said, (asked,)) == ("We want a party for 45 colleagues.",)


@pytest.mark.req("P-04")
def test_a_correction_with_two_facts_loses_neither() -> None:
    said = corrected(["The budget is 2000 euros."], "The budget is 3000 and it is in August.")
    assert "The budget is 3000 euros." in said
    assert "August" in " ".join(said)
