"""Plans as data and as Markdown: whatever the content is, the structure stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.deliverables.plan.document import (
    Plan,
    PlanIncomplete,
    StructureChanged,
    from_json,
    parse,
    render,
    tidy,
    to_json,
)
from forge.deliverables.plan.outlines import NAMES, NoSuchTemplate, chosen, outline, outlines
from forge.deliverables.plan.placeholders import placeholders

ROW = "| Objective | Plan | Assessment |"
NASTY = (
    "{{ 7*7 }} and {% for x in y %} {# note #}",
    "a | b | c\n|---|---|\n| 1 | 2 |",
    "# Heading\n## Guests\n###### six",
    "<!-- hidden\n## gone -->",
    "```\n## in a fence\n",
    "~~~\nopen fence",
    "Title\n===\nOther\n---",
    "<table><tr><td>x</td></tr></table><script>alert(1)</script>",
    "> quote\n    indented code",
    "[x]: http://example.org 'y'\n\\",
    "a\\|b \\` ``` `c|d` `e<f`",
    "\r\nline\u2028separator\x0bform\x00feed",
    "- # list heading\n1. ## another\n- - -",
    "{{ self.__init__.__globals__ }}{{ ''.__class__ }}",
)


def filled(template: str, text: str = "Some text.") -> Plan:
    return Plan(template, "A title", dict.fromkeys(outline(template).slots, text))


def headings(document: str) -> list[str]:
    return [line for line in document.split("\n") if re.match(r"#{1,6} ", line)]


@pytest.mark.req("P-06")
@pytest.mark.parametrize("name", NAMES)
def test_every_template_has_a_table_of_objective_plan_and_assessment_in_every_section(name: str) -> None:
    text = render(filled(name))
    sections = outline(name).sections
    assert headings(text) == ["# A title", *(f"## {section.title}" for section in sections)]
    assert text.count(ROW) == len(sections) >= 7
    assert parse(text) == tidy(filled(name))


@pytest.mark.req("P-06")
@pytest.mark.parametrize("nasty", NASTY)
def test_content_cannot_break_the_structure(nasty: str) -> None:
    plain, text = render(filled("wedding")), render(filled("wedding", "x" + nasty + "x"))
    assert headings(text) == headings(plain)
    assert text.count(ROW) == plain.count(ROW)
    assert not [line for line in text.split("\n") if re.match(r"\s*(```|~~~|<)", line)]
    assert parse(text) == tidy(filled("wedding", "x" + nasty + "x"))


@pytest.mark.req("P-06")
def test_template_syntax_in_content_is_text() -> None:
    text = render(filled("generic", "{{ 7*7 }}{% raw %}"))
    assert "{{ 7*7 }}{% raw %}" in text
    assert "49" not in text


@pytest.mark.req("P-06")
@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.sampled_from(list("ab \n\t|`\\<>#-=:*_[]{}%!~&1.)+\r\x85")), min_size=1, max_size=40),
    st.text(max_size=30),
)
def test_what_is_rendered_is_read_back_the_same(marks: str, anything: str) -> None:
    slots = {
        slot: f"{marks}x{anything}" if slot.endswith("details") else f"{anything}x{marks}"
        for slot in outline("generic").slots
    }
    plan = tidy(Plan("generic", f"t{marks}", slots))
    text = render(plan)
    assert parse(text) == plan
    assert render(parse(text)) == text
    assert from_json(to_json(plan)) == plan


@pytest.mark.req("P-06")
def test_a_plan_with_an_empty_slot_is_not_rendered() -> None:
    plan = filled("generic").with_slots({"money.plan": "  \n "})
    with pytest.raises(PlanIncomplete, match=r"money\.plan"):
        render(plan)


def test_hand_edits_inside_of_slots_are_read_back() -> None:
    old = "| Some text. | Some text. | Some text. |\n\nSome text.\n\n## Budget"
    new = "| Some text. | 90 guests | Some text. |\n\n- a list\n- by hand\n\n## Budget"
    text = render(filled("wedding")).replace(old, new)
    plan = parse(text)
    assert plan.slots["guests.plan"] == "90 guests"
    assert plan.slots["guests.details"] == "- a list\n- by hand"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Budget\n", "## Money\n", "missing: Budget; new: Money"),
        ("## Budget\n", "### Budget\n", "headings differ"),
        ("## Guests\n", "## Guests\n\n## Guests\n", "headings differ"),
        (ROW, "| Objective | Plan |", "table of"),
        ("| Some text. | Some text. | Some text. |\n", "| Some text. | Some text. |\n", "holds more"),
        ("Some text. |\n\nSome text.\n", "Some text. |\n\n| own | table |\n|---|---|\n| 1 | 2 |\n", "holds more"),
        ("Some text. |\n\nSome text.\n", "Some text. |\n\n```\ncode\n```\n", "holds more"),
        ("# A title\n", "A title\n", "no title"),
    ],
)
def test_a_changed_structure_is_named(old: str, new: str, said: str) -> None:
    text = render(filled("wedding"))
    assert old in text
    with pytest.raises(StructureChanged, match=said):
        parse(text.replace(old, new, 1))


def test_a_file_that_is_no_plan_is_no_value() -> None:
    assert from_json("") is None
    assert from_json("[1]") is None
    assert from_json('{"template": "nope", "title": "t", "slots": {}}') is None
    assert from_json('{"template": "generic", "title": "t", "slots": {"money.plan": 3}}') is None


@pytest.mark.parametrize(
    ("spec", "intent", "name"),
    [
        ("## Deliverable Structure\n\nTemplate: engineering\n", "our wedding", "engineering"),
        ("- **Template**: wedding", "", "wedding"),
        ("Template: unheard", "we marry in June", "wedding"),
        ("", "a marketing strategy for new customers", "strategy"),
        ("", "migrate the database to another cluster", "engineering"),
        ("", "move to Vienna", "generic"),
        ("", "move the office, the server room too", "generic"),
        ("", "an engineering plan for the audit", "engineering"),
        ("", "", "generic"),
    ],
)
def test_the_template_is_the_one_that_the_specification_names_or_the_words_fit(
    spec: str, intent: str, name: str
) -> None:
    assert chosen(spec, intent) == name


def test_templates_have_no_gaps_and_no_double_ids() -> None:
    with pytest.raises(NoSuchTemplate):
        outline("../generic")
    for one in outlines():
        assert len(set(one.slots)) == len(one.slots)
        texts = [text for section in one.sections for text in (section.title, section.objective, section.assessment)]
        assert all(texts)
        assert not placeholders("\n".join(texts))


@pytest.mark.req("P-06")
@pytest.mark.parametrize(
    "text",
    ["Venue: TBD", "tbc", "T.B.D.", "TODO ask", "Lorem ipsum", "[insert date]", "XXX", "<your name>"],
)
def test_placeholders_are_found(text: str) -> None:
    assert placeholders(text)


@pytest.mark.req("P-06")
def test_words_of_people_are_no_placeholders() -> None:
    own = "Launch the TODO app with {{ name }} in mails"
    assert not placeholders("The TODO app greets with {{ name }}.", own)
    assert placeholders("Venue TBD", "the venue is TBD")
    assert not placeholders("1. No TBD is left.", quoted=["No TBD is left."])
    assert not placeholders("a to-do list, a mastodon, and xylophones")
