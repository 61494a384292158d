"""The built-in engine on a brain dump: the person's words sorted, corrections applied, nothing invented."""

from __future__ import annotations

import re

import pytest

from forge.builtin_rules import BuiltinCannot, answer
from forge.builtin_rules.facts import FactKind, contradictions, facts
from forge.builtin_rules.kinds import judged
from forge.builtin_rules.sentences import sentences
from forge.projects.intent import SECTIONS, Intent, parse_intent

WEDDING = (
    "I want to plan a wedding for 80 guests in June 2027, budget 15,000 euro, no church. "
    "We are not sure whether we take the barn or the garden. Maybe a band. Probably it will not rain."
)


def distilled(
    *dump: str, corrections: tuple[str, ...] = (), name: str = "", resources: tuple[dict[str, str], ...] = ()
) -> str:
    material = {
        "name": name,
        "brain_dump": list(dump),
        "resources": list(resources),
        "corrections": list(corrections),
        "previous": "# Something older",
    }
    return answer("brain-dump-intake", material)


def intent(*dump: str, corrections: tuple[str, ...] = (), name: str = "") -> Intent:
    return parse_intent(distilled(*dump, corrections=corrections, name=name), ("plan", "code"))


@pytest.mark.req("P-04", "X-03")
def test_a_brain_dump_becomes_the_six_sections() -> None:
    text = distilled(WEDDING)
    assert re.findall(r"(?m)^## (.+)$", text) == list(SECTIONS)
    found = intent(WEDDING)
    assert found.name == "Wedding for 80 Guests"
    assert found.deliverable_type == "plan"
    assert found.objective == "I want to plan a wedding for 80 guests in June 2027."
    assert found.constraints == ("Budget 15,000 euro.", "No church.")
    assert found.assumptions == ("Probably it will not rain.",)
    assert found.unknowns == ("Maybe a band.",)
    assert found.open_questions == (
        "You wrote: “We are not sure whether we take the barn or the garden.” What is your answer?",
    )


@pytest.mark.req("P-04")
def test_every_word_comes_from_the_person() -> None:
    body = distilled(WEDDING).partition("## Objective")[2]
    words = set(re.findall(r"\w+", body.lower()))
    titles = {"objective", "assumptions", "constraints", "unknowns", "open", "questions"}
    own = set(re.findall(r"\w+", WEDDING.lower())) | titles
    assert words - own == {"you", "wrote", "what", "is", "your", "answer"} - own


@pytest.mark.req("P-04")
@pytest.mark.parametrize(
    ("correction", "there", "gone"),
    [
        ("budget is 3000 now", "Budget 3000 euro.", "15,000"),
        ("The budget is 20k.", "Budget 20k", "15,000"),
        ("100 guests", "for 100 guests in June", "80"),
        ("not 80 guests but 100 guests", "for 100 guests in June", "80"),
        ("change June 2027 to August 2027", "in August 2027", "June"),
        ("September instead of June 2027", "in September", "June"),
        ("No, the wedding is on 5 July 2027.", "on 5 July 2027", "June"),
        ("remove the band", "No church.", "band"),
        ("Please drop the budget", "No church.", "euro"),
        ("We take the barn.", ". We take the barn.", "your answer"),
        ("Actually we do it without a band.", "without a band", "Maybe"),
        ("A photographer is needed as well.", ". A photographer is needed as well.", "never said"),
        ("Replace church with registry office", "No church.", "No registry office"),
        ("Call it Summer Feast", "# Summer Feast", "Call it"),
    ],
)
def test_corrections_win_over_what_was_said_before(correction: str, there: str, gone: str) -> None:
    text = distilled(WEDDING, corrections=(correction,))
    assert there in text
    assert gone not in text


@pytest.mark.req("P-04")
def test_corrections_are_applied_in_their_order_to_the_dump() -> None:
    found = intent(WEDDING, corrections=("90 guests", "Sorry, 95 guests", "the budget is 9000 euro"))
    assert "95 guests" in found.objective
    assert found.constraints == ("Budget 9000 euro.", "No church.")


@pytest.mark.req("P-04")
def test_the_type_can_be_corrected() -> None:
    assert intent("Write a script that renames files", corrections=()).deliverable_type == "code"
    found = intent("Write a script that renames files", corrections=("This is a plan, not code.",))
    assert found.deliverable_type == "plan"
    assert "not code" not in " ".join(found.constraints)
    assert intent(WEDDING, corrections=("It's code.",)).deliverable_type == "code"


@pytest.mark.req("P-04")
def test_the_type_that_was_chosen_holds_until_another_is_named() -> None:
    script = {"name": "", "brain_dump": ["Write a script that renames files."], "chosen_type": "plan"}
    found = parse_intent(answer("brain-dump-intake", script), ("plan", "code"))
    assert (found.deliverable_type, "You chose it" in found.reasoning) == ("plan", True)
    script["corrections"] = ["It is code."]
    assert parse_intent(answer("brain-dump-intake", script), ("plan", "code")).deliverable_type == "code"


@pytest.mark.req("P-04")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I want an app that tracks my plants", "code"),
        ("Build a small CLI which counts words", "code"),
        ("We need a Python library for parsing invoices", "code"),
        ("Create an API for our shop and unit tests", "code"),
        ("We need a launch plan for our app", "plan"),
        ("Plan the migration of our API to Python 3", "plan"),
        ("A strategy for our software company", "plan"),
        ("Organise a trip to Rome for the team", "plan"),
        ("I want a roadmap for the new website", "plan"),
        ("Our monolith is a Django application, move billing out of it, deadline is May, four developers", "plan"),
        ("I will paint the fence", "plan"),
    ],
)
def test_plan_or_code_is_told_from_the_words(text: str, kind: str) -> None:
    assert judged(text).kind == kind


@pytest.mark.req("P-04")
def test_a_name_is_typed_or_in_the_text_or_made_of_the_first_words() -> None:
    assert intent(WEDDING, name="Our Day").name == "Our Day"
    assert intent("The project is called Green Roof. We want to plant a roof.").name == "Green Roof"
    assert intent("# Green Roof\nWe want to plant a roof garden this year.").name == "Green Roof"
    assert intent(WEDDING, name="Our Day", corrections=("Rename it to The Day",)).name == "The Day"
    for text in ("We want to renovate our old kitchen before winter comes.", "Objective", "wedding", "?!"):
        assert 1 <= len((intent(text).name or "").split()) <= 6


@pytest.mark.req("P-04")
def test_there_are_never_more_than_five_open_questions() -> None:
    found = intent("I want a feast. " + " ".join(f"Should uncle {name} come?" for name in "ABCDEFGHIJ"))
    assert len(found.open_questions) == 5
    assert len(found.unknowns) == 5


@pytest.mark.req("P-04")
def test_amounts_that_contradict_each_other_are_asked_about() -> None:
    found = intent("I want a party. 80 guests. Six guests are vegan. It is a party with 100 guests.")
    assert found.open_questions == ("You wrote “80 guests” and “100 guests”. Which one counts?",)


@pytest.mark.req("P-04")
def test_a_plain_statement_is_background_and_only_a_limit_is_a_constraint() -> None:
    found = intent(
        "We want a party. Anna takes care of music. I think the city allows it. No fireworks."
        " It should be fine for everyone. There is food for everybody. It must end before midnight."
    )
    assert found.assumptions == ("I think the city allows it.", "It should be fine for everyone.")
    assert found.constraints == ("No fireworks.", "It must end before midnight.")
    assert found.objective.splitlines()[-2:] == ["1. Anna takes care of music.", "2. There is food for everybody."]


@pytest.mark.req("P-04")
def test_a_sentence_with_a_belief_and_an_unknown_is_both_unless_the_halves_need_each_other() -> None:
    found = intent("We want a party. I think the city allows it, but I am not sure whether we need a permit.")
    assert found.assumptions == ("I think the city allows it.",)
    assert found.open_questions == ("You wrote: “I am not sure whether we need a permit.” What is your answer?",)
    wall = "The wall goes away, but we are not sure if it is load bearing."
    assert intent(f"We want a new kitchen. {wall}").open_questions == (f"You wrote: “{wall}” What is your answer?",)


@pytest.mark.req("P-04")
def test_where_nothing_is_wanted_it_is_asked_and_no_sentence_stands_for_it() -> None:
    found = intent("Lena and I get married on 14 August 2027. My sister makes the cake.")
    assert found.objective.startswith("Nobody has said yet what the result should be.")
    assert found.open_questions == ("What do you want to have in the end?",)
    assert found.name == "Lena"


@pytest.mark.req("P-04")
def test_prose_among_the_resources_counts_and_code_does_not() -> None:
    resources = (
        {"path": "notes.md", "text": "The hall must be empty by 11 pm."},
        {"path": "a.py", "text": "budget = must_not(3)"},
    )
    text = distilled("We want a party in the hall.", resources=resources)
    assert "The hall must be empty by 11 pm." in text
    assert "must_not" not in text


def test_the_same_dump_gives_the_same_intent() -> None:
    assert distilled(WEDDING) == distilled(WEDDING)


def test_sentences_survive_lists_short_forms_and_wrapped_lines() -> None:
    text = "We meet Dr. Smith on 12. June, e.g. at noon. it costs 3.50 euro\n- first point\n- second\n  point\n\nDone!"
    assert sentences(text) == [
        "We meet Dr. Smith on 12. June, e.g. at noon.",
        "It costs 3.50 euro.",
        "First point.",
        "Second point.",
        "Done!",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "thing", "value"),
    [
        ("Budget is 15,000 euro", FactKind.MONEY, "budget", "15000"),
        ("budget: 8k", FactKind.MONEY, "budget", "8000"),
        ("Max 18.000 €", FactKind.MONEY, "max", "18000"),
        ("the photographer costs $800", FactKind.MONEY, "photographer", "800"),
        ("about 80 guests", FactKind.COUNT, "guest", "80"),
        ("six guests are vegan", FactKind.COUNT, "guest", "6"),
        ("on 12 June 2027", FactKind.DATE, "date", "12 june 2027"),
        ("by 2027-06-12", FactKind.DATE, "date", "2027-06-12"),
    ],
)
def test_amounts_and_dates_are_found(text: str, kind: FactKind, thing: str, value: str) -> None:
    (fact,) = facts(text)
    assert (fact.kind, fact.thing, fact.value) == (kind, thing, value)


def test_spans_of_time_and_parts_do_not_contradict() -> None:
    assert not contradictions(["It takes 8 weeks.", "It takes 4 weeks.", "80 guests.", "Six guests are vegan."])
    assert contradictions(["Budget is 3000 euro.", "The budget is 4000 euro."])


@pytest.mark.req("X-03")
@pytest.mark.parametrize("prompt", ["code-build", "code-review", "code-fix", "plan-build", "plan-fix", "unheard-of"])
def test_what_rules_cannot_do_is_said_with_what_to_do_next(prompt: str) -> None:
    with pytest.raises(BuiltinCannot) as raised:
        answer(prompt, {})
    assert "Connect a model" in raised.value.hint


@pytest.mark.req("X-03")
def test_rules_specify_plans_only() -> None:
    with pytest.raises(BuiltinCannot, match="type code"):
        answer("spec-building", {"intent": "", "deliverable_type": "code"})
