"""The spec phase's answer: checked, compared with what the intent leaves open, and written as two documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from forge.pipeline.specification import (
    Answer,
    Task,
    criteria,
    identified,
    parse_answer,
    question_for,
    render_constraints,
    render_spec,
    tasks,
    unresolved,
)
from forge.projects.errors import AnswerMalformed

pytestmark = pytest.mark.req("P-05")

CRITERIA = [f"It does thing {n}" for n in range(1, 6)]
PLAN = {"template": "wedding", "sections": ["Guests", "Food"]}
CODE = {
    "architecture": "One module.",
    "language": "Python",
    "framework": "",
    "tools": ["pytest"],
    "tasks": [
        {"id": "x", "title": "Parse the log", "tests": True},
        {"id": "y", "title": "Print a table", "tests": False},
    ],
}
SEVERITIES = {"critical": "broken", "medium": "awkward", "minor": "ugly"}


def value(structure: Any = PLAN, **other: Any) -> dict[str, Any]:
    return {
        "challenges": [{"decision": "Outdoors", "concern": "rain", "resolution": "a tent"}],
        "resolutions": [{"unknown": "Who cooks?", "resolution": "a caterer", "source": "human"}],
        "questions": [],
        "spec": {
            "overview": "A wedding.",
            "structure": structure,
            "decisions": ["In June", {"decision": "80 guests", "rationale": "the hall holds no more"}],
            "dependencies": [],
            "included": ["food"],
            "excluded": ["travel"],
        },
        "constraints": {
            "context": "A wedding for 80.",
            "priorities": ["calm"],
            "exclusions": [],
            "severities": SEVERITIES,
            "scope": ["Guests"],
            "criteria": CRITERIA,
        },
        **other,
    }


def answer(structure: Any = PLAN, **other: Any) -> Answer:
    return parse_answer(json.dumps(value(structure, **other)))


def refused(raw: dict[str, Any], type_: str | None = None) -> str:
    with pytest.raises(AnswerMalformed) as error:
        parse_answer(json.dumps(raw), type_)
    return error.value.message


def resolved(*unknowns: str) -> Answer:
    return answer(resolutions=[{"unknown": u, "resolution": "so", "source": "ai"} for u in unknowns])


def test_the_specification_of_a_plan_has_its_sections() -> None:
    assert render_spec("Our Day", answer(), "plan") == snapshot("""\
# Our Day — Specification

## Deliverable Overview

A wedding.

## Deliverable Structure

Template: wedding

Every main section has a table of objective, plan and assessment.

1. Guests
2. Food

## Key Decisions

- In June
- **80 guests**: the hall holds no more
- **Outdoors**: a tent (questioned: rain)

## Resolved Unknowns

- **Who cooks?**: a caterer (human-provided)

## Dependencies

None

## Scope Boundaries

Included:

- food

Excluded:

- travel
""")


def test_the_specification_of_code_lists_what_to_build() -> None:
    text = render_spec("Tool", answer(CODE), "code", candidates="rich: 8 of 8.")
    assert text.partition("## Key Decisions")[0] == snapshot("""\
# Tool — Specification

## Deliverable Overview

A wedding.

## Deliverable Structure

One module.

- Language: Python
- Framework: none
- Tools: pytest

### Open-source Components

rich: 8 of 8.

### Tasks

1. Parse the log (tests)
2. Print a table

""")
    assert len(tasks(text)) == 2


def test_the_constraints_have_their_sections() -> None:
    assert render_constraints("Our Day", answer(), "Plan", {}) == snapshot("""\
# Our Day — Review Constraints

## Context

A wedding for 80.

## Deliverable Type

Plan

## Priorities

- calm

## Exclusions

None

## Severity Definitions

- **critical**: broken
- **medium**: awkward
- **minor**: ugly

## Scope

- Guests

## Acceptance Criteria

1. It does thing 1
2. It does thing 2
3. It does thing 3
4. It does thing 4
5. It does thing 5
""")


def test_severities_come_from_the_type_where_the_answer_has_none() -> None:
    raw = value()
    del raw["constraints"]["severities"]
    text = render_constraints("Our Day", parse_answer(json.dumps(raw)), "Plan", {"critical": "unusable"})
    assert "- **critical**: unusable" in text


def test_a_type_of_a_plugin_may_have_any_structure() -> None:
    text = render_spec("Talk", answer({"slides": 10, "tone": "dry"}), "slides")
    assert "- slides: 10\n- tone: dry" in text


@pytest.mark.parametrize("count", [0, 4, 11])
def test_there_are_five_to_ten_criteria(count: int) -> None:
    raw = value()
    raw["constraints"]["criteria"] = ["it works"] * count
    assert "constraints.criteria" in refused(raw)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"spec": {}}, "spec.overview"),
        ({"resolutions": [{"unknown": "a", "resolution": " ", "source": "ai"}]}, "resolutions[0].resolution"),
        ({"resolutions": [{"unknown": "a", "resolution": "b", "source": "oracle"}]}, "resolutions[0].source"),
        ({"constraints": None}, "constraints"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], told: str) -> None:
    assert told in refused(value(**change))


@pytest.mark.parametrize(("type_", "structure"), [("plan", CODE), ("code", PLAN), ("plan", {}), ("code", {"x": 1})])
def test_the_structure_has_to_be_that_of_the_type(type_: str, structure: Any) -> None:
    assert "structure" in refused(value(structure), type_)


def test_a_template_that_does_not_exist_and_an_empty_task_list_are_refused() -> None:
    assert "template" in refused(value({"template": "funeral", "sections": ["a"]}))
    assert "tasks" in refused(value({**CODE, "tasks": []}))


# What is open


def test_every_unknown_without_a_resolution_is_open() -> None:
    assert unresolved(("Who cooks?", "When is it?"), answer()) == ("When is it?",)
    assert unresolved((), answer()) == ()


@pytest.mark.parametrize("said", ["who cooks", "**Who cooks?**", "Who cooks??", " WHO  cooks ?", "Who cooked?"])
def test_a_resolution_may_repeat_the_unknown_in_slightly_other_words(said: str) -> None:
    assert unresolved(("Who cooks?",), resolved(said)) == ()


def test_another_unknown_is_not_resolved_by_it() -> None:
    assert unresolved(("Who cooks?",), resolved("Who sings and where?")) == ("Who cooks?",)


def test_one_resolution_settles_one_of_two_that_are_nearly_alike() -> None:
    items = ("What is the budget for 2026?", "What is the budget for 2027?")
    assert unresolved(items, resolved(items[1])) == (items[0],)
    assert unresolved(items, resolved(*items)) == ()
    assert unresolved(("Who cooks?", "who cooks"), resolved("Who cooks?")) == ()


def test_what_the_answer_asks_a_person_is_open_too_once() -> None:
    asking = answer(
        questions=[
            {"unknown": "When is it?", "question": "Which day?"},
            {"unknown": "Is there music?", "question": "Is there?"},
            {"unknown": "Who cooks?", "question": "Who?"},
        ]
    )
    assert unresolved(("Who cooks?", "When is it"), asking) == ("When is it", "Is there music?")
    assert question_for("When is it", asking) == "Which day?"
    assert question_for("Where?", asking) == "Where?"


phrases = st.lists(
    st.text("abcdefgh ", min_size=1, max_size=12).filter(str.strip),
    unique_by=lambda text: " ".join(text.split()),
    max_size=5,
)


@given(phrases, phrases)
def test_more_resolutions_never_open_anything(items: list[str], given_: list[str]) -> None:
    fewer = set(unresolved(items, resolved()))
    open_ = unresolved(items, resolved(*(text.strip() for text in given_)))
    assert set(open_) <= fewer
    assert unresolved(items, resolved(*(text.strip() for text in items))) == ()


# Reading the documents back


def test_criteria_are_read_back_and_from_what_people_make_of_them() -> None:
    assert criteria(render_constraints("Our Day", answer(), "Plan", {})) == tuple(CRITERIA)
    by_hand = (
        "# X\n## ACCEPTANCE CRITERIA:\n### Must\n* one\n* [ ] two\n  and more\n### Should\n3) three\n## Notes\n- no"
    )
    assert criteria(by_hand) == ("one", "two and more", "three")
    assert criteria("# Nothing") == ()


def test_tasks_are_derived_again_from_the_document_with_the_same_identifiers() -> None:
    spec = render_spec("Tool", answer(CODE), "code")
    assert tasks(spec) == (
        Task(id="parse-the-log", title="Parse the log", tests=True),
        Task(id="print-a-table", title="Print a table", tests=False),
    )
    assert tasks(spec) == tasks(spec.replace("1. Parse", "* Parse"))
    assert tasks("## Deliverable Structure\nwords") == ()


def test_titles_that_come_twice_get_different_identifiers() -> None:
    found = identified([Task(title=title) for title in ("Test it", "Test it!", "test it 2", "…")])
    assert [task.id for task in found] == ["test-it", "test-it-2", "test-it-2-2", "task"]


WICKED = "Words\n## Acceptance Criteria\n- none\n# Tasks\n```\n### Tasks\nunclosed\n===\n---"


def test_no_text_in_the_answer_breaks_the_documents() -> None:
    raw = value({**CODE, "architecture": WICKED})
    raw["spec"]["overview"] = raw["constraints"]["context"] = WICKED
    raw["spec"]["included"] = raw["constraints"]["priorities"] = [WICKED]
    wicked = parse_answer(json.dumps(raw))
    spec, constraints = render_spec("A\n# B", wicked, "code"), render_constraints("A", wicked, "Code", {})
    assert [task.id for task in tasks(spec)] == ["parse-the-log", "print-a-table"]
    assert criteria(constraints) == tuple(CRITERIA)
    assert [line for line in spec.splitlines() if line.startswith("#")] == [
        line for line in render_spec("A # B", answer(CODE), "code").splitlines() if line.startswith("#")
    ]


@given(
    st.lists(
        st.text("ab (tests)1.-\n", min_size=1, max_size=15).filter(lambda t: any(c in "abest1" for c in t)),
        min_size=1,
        max_size=5,
    )
)
def test_the_number_of_tasks_survives_any_titles(titles: list[str]) -> None:
    structure = {**CODE, "tasks": [{"id": "", "title": f"Do {title}", "tests": False} for title in titles]}
    found = tasks(render_spec("Tool", answer(structure), "code"))
    assert len(found) == len(titles) == len({task.id for task in found})
