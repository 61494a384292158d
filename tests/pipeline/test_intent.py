"""`intent.md` is read from Markdown as it really comes, and refused with all that is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.projects.errors import AnswerMalformed
from forge.projects.intent import SECTIONS, Intent, format_intent, items, named, parse_intent, unknowns

pytestmark = pytest.mark.req("P-04")

TYPES = ("plan", "code")
TIDY = """\
# Garden Wedding

## Deliverable Type

Plan — it is an event

## Objective

A wedding for 80 guests.

## Assumptions

- the garden is free

## Constraints

- at most 9,000 €
- not in a church

## Unknowns

None

## Open Questions

- Who cooks?
"""
WEDDING = Intent(
    "Garden Wedding",
    "plan",
    "it is an event",
    "A wedding for 80 guests.",
    ("the garden is free",),
    ("at most 9,000 €", "not in a church"),
    (),
    ("Who cooks?",),
)


def text_with(**bodies: str) -> str:
    """A tidy text with other bodies for some sections, such as `open_questions`."""
    found = {
        title: bodies.get(title.lower().replace(" ", "_"), "Plan" if title == SECTIONS[0] else "x")
        for title in SECTIONS
    }
    return "# Name\n\n" + "\n\n".join(f"## {title}\n\n{body}" for title, body in found.items())


def refused(text: str) -> str:
    with pytest.raises(AnswerMalformed) as error:
        parse_intent(text, TYPES)
    assert "Open Questions" in error.value.hint
    return error.value.message


def test_a_tidy_intent_is_read_and_written_back_as_it_was() -> None:
    assert parse_intent(TIDY, TYPES) == WEDDING
    assert format_intent(WEDDING) == TIDY


NUMBERED = """\
Sure! Here is the structured document.

1. DELIVERABLE TYPE — Plan: it is an event
2. OBJECTIVE
A wedding for 80 guests.
3. ASSUMPTIONS
* the garden is free
4. CONSTRAINTS
1) at most 9,000 €
2) not in a church
5. UNKNOWNS
- None.
6. OPEN QUESTIONS
1. Who cooks?
"""
BOLD = """\
# **Garden Wedding** #
**Deliverable Type:** **Plan** — it is an event

**Objective**
A wedding for 80 guests.

__3. Assumptions__
- [ ] the garden is free

**CONSTRAINTS**
  - at most
    9,000 €
  - not in a church
**Unknowns:** none

**Open Questions**
Who cooks?
"""
HEADINGS = """\
# Garden Wedding

Some words before.

### 1. DELIVERABLE TYPE
_Plan_. it is an event
### 2. Objective:
A wedding for 80 guests.
### 3. Assumption
These are taken for granted:
+ the garden is free
### 4. **Constraints**
- at most 9,000 €

- not in a church
### 5. Unknowns (gaps)
n/a
### 6. open questions
- Who cooks?
"""


@pytest.mark.parametrize(
    "text", [HEADINGS, BOLD, f"Here you are:\n\n```markdown\n{TIDY}```\n", TIDY.replace("\n", "\r\n")]
)
def test_messy_markdown_gives_the_same_intent(text: str) -> None:
    assert parse_intent(text, TYPES) == WEDDING


def test_a_text_without_a_title_has_no_name_until_it_gets_one() -> None:
    intent = parse_intent(NUMBERED, TYPES)
    assert intent.name is None
    assert named(intent, " Garden \n Wedding ") == WEDDING


@pytest.mark.parametrize("title", ["# {Project Name}", "#  ", "# ** **"])
def test_an_empty_title_is_no_name(title: str) -> None:
    assert parse_intent(TIDY.replace("# Garden Wedding", title, 1), TYPES).name is None


@pytest.mark.parametrize(
    ("body", "type_", "why"),
    [
        ("Plan", "plan", ""),
        ("CODE", "code", ""),
        ("**Code** — a script", "code", "a script"),
        ("- Plan: an event", "plan", "an event"),
        ("`code`, because it runs", "code", "because it runs"),
        ("Plan\n\nIt is an event.", "plan", "It is an event."),
        ("Plan (not code)", "plan", "(not code)"),
    ],
)
def test_the_first_word_names_the_type(body: str, type_: str, why: str) -> None:
    intent = parse_intent(text_with(deliverable_type=body), TYPES)
    assert (intent.deliverable_type, intent.reasoning) == (type_, why)


@pytest.mark.parametrize(
    "body", ["A plan", "Plan or Code", "Code/Plan", "plan and code", "Planning", "", "Document", "Plan / code"]
)
def test_any_other_beginning_is_refused_with_the_types_there_are(body: str) -> None:
    assert "one of code, plan" in refused(text_with(deliverable_type=body))


def test_types_of_plugins_count_too() -> None:
    text = text_with(deliverable_type="**Slide-deck** — ten slides")
    assert parse_intent(text, (*TYPES, "slide-deck")).deliverable_type == "slide-deck"


def test_everything_that_is_wrong_is_told_at_once() -> None:
    told = refused("# Name\n## Objective\n\n## Deliverable Type\nBoth\n## Unknowns\n## Unknowns\n")
    assert "no section Assumptions, Constraints, Open Questions" in told
    assert "Unknowns more than once" in told
    assert "one of code, plan" in told
    assert "Objective is empty" in told


def test_no_sections_and_sections_in_another_order_are_refused() -> None:
    assert "no section Deliverable Type, Objective" in refused("I cannot do that.")
    assert "not in their order" in refused(
        TIDY.replace("## Objective", "## X").replace("## Unknowns", "## Objective").replace("## X", "## Unknowns")
    )


def test_at_most_five_open_questions() -> None:
    five = "\n".join(f"- q{n}?" for n in range(5))
    assert len(parse_intent(text_with(open_questions=five), TYPES).open_questions) == 5
    assert "6 open questions" in refused(text_with(open_questions=five + "\n- one more?"))


def test_headings_in_code_and_smaller_ones_belong_to_their_section() -> None:
    objective = "Parse this:\n\n```md\n## Unknowns\n```\n\n### Later\n\nMore."
    assert parse_intent(text_with(objective=objective), TYPES).objective == objective


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("", ()),
        ("None", ()),
        ("- None.", ()),
        ("-", ()),
        ("_n/a_", ()),
        ("No open questions.", ()),
        ("- None of the guests eat meat", ("None of the guests eat meat",)),
        ("one\ntwo", ("one two",)),
        ("one\n\ntwo", ("one", "two")),
        ("- one\n  more\n- two", ("one more", "two")),
        ("- one\n  - under it\n- two", ("one under it", "two")),
        ("    - one\n    - two", ("one", "two")),
        ("Open:\n- one", ("one",)),
        ("Not decided\n- one", ("Not decided", "one")),
        ("- Decide:\n- two", ("Decide:", "two")),
        ("10. ten\n11. eleven", ("ten", "eleven")),
        ("• one\n• two", ("one", "two")),
        ("- [x] one\n- [ ] two", ("one", "two")),
    ],
)
def test_lists_are_read_item_by_item(body: str, found: tuple[str, ...]) -> None:
    assert items(body) == found


def test_unknowns_and_open_questions_have_to_be_decided_each_once() -> None:
    text = text_with(unknowns="- who\n- when", open_questions="- when\n- where?")
    assert unknowns(parse_intent(text, TYPES)) == ("who", "when", "where?")


lines = st.text("ab #-*1.:`\n—", max_size=30)


@given(lines, lines, lines, lines, st.sampled_from(["Plan", "**Code**"]))
def test_what_was_read_is_read_again_from_what_is_written(a: str, b: str, c: str, d: str, type_: str) -> None:
    try:
        intent = parse_intent(
            text_with(deliverable_type=f"{type_} {a}", objective=f"x {b}", unknowns=c, constraints=d), TYPES
        )
    except AnswerMalformed:
        return
    assert parse_intent(format_intent(intent), TYPES) == intent


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for document in (text, TIDY + text, text + TIDY):
        try:
            assert parse_intent(document, TYPES).deliverable_type in TYPES
        except AnswerMalformed:
            continue


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "None identified.",
        "- None identified at this time",
        "There are no open questions.",
        "There are no remaining unknowns at this stage.",
        "No further questions for now.",
        "I have no questions.",
        "N/A",
        "*No known unknowns.*",
        "Let me know if you have any questions!",
        "- None\n\nFeel free to correct anything.",
    ],
)
def test_saying_that_there_is_nothing_is_no_item(text: str) -> None:
    assert items(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "None of the vendors has answered yet",
        "No budget is agreed; who decides?",
        "Nothing is known about the number of users",
        "There are no open questions about the budget, but who signs?",
        "Who is happy to maintain it?",
    ],
)
def test_an_item_that_only_begins_so_stays(text: str) -> None:
    assert items(text) == (text,)
