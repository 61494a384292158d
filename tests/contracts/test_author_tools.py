"""What an agent can fetch while it writes a contract: parts by heading and id, and outlines that name what there is."""

from __future__ import annotations

from typing import Any

import pytest

from forge.contracts.author_tools import Fetched, Work, tools
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.material import Material
from forge.contracts.outline import ids, outline
from forge.contracts.templates import template
from forge.tools.tool import ToolRetry

pytestmark = pytest.mark.req("C-02", "C-03")

TEXTS = {kind: template(kind) for kind in ORDER}
ANSWERS = {
    "product": "A task list",
    "languages": "Python",
    "entities": "Task: title",
    "users": "Member",
    "style": "Calm",
}


def called(work: Work, name: str, **given: Any) -> Any:
    tool = next(each for each in tools(work, []) if each.name == name)
    return tool.execute(None, given)


@pytest.fixture
def told() -> list[Fetched]:
    return []


@pytest.fixture
def work(told: list[Fetched]) -> Work:
    prior = {kind: text for kind, text in TEXTS.items() if kind is not Kind.BUILDER_DIRECTIVE}
    return Work(Kind.BUILDER_DIRECTIVE, Material("TaskFlow", {}, ANSWERS), prior, fetched=told.append)


@pytest.mark.parametrize(
    ("kind", "part", "says", "not_says"),
    [
        ("blueprint", "Features", "F4: Board", "## Intent"),
        ("blueprint", "outline", "Features (", "stays signed in"),
        ("blueprint", "Users, Architecture", "## Architecture", "## Features"),
        ("blueprint", "F3", "newest comment", "F4"),
        ("schema", "Comment", "5,000 characters", "### Task"),
        ("schema", "ids", "User, Task, Comment", "uuid"),
        ("physics", "createTask", "requestBody", "listTasks"),
        ("physics", "/tasks/{id}", "deleteTask", "createTask"),
        ("physics", "NewTask", "x-entity: Task", "openapi"),
        ("physics", "outline", "/tasks: GET listTasks, POST createTask", "responses"),
        ("boundaries", "forbidden, invariants", "Only repos speak SQL", '"layers"'),
        ("phases", "1", "## Phase 1 — Tasks", "## Phase 2"),
        ("phases", "ids", "0 Foundation, 1 Tasks", "D0.1"),
        ("ui", "P2, P3", "comments below", "P1"),
    ],
)
def test_a_part_is_what_was_asked_for_and_no_more(work: Work, kind: str, part: str, says: str, not_says: str) -> None:
    given = called(work, "get_prior_contract", contract_type=kind, part=part)
    assert says in given
    assert not_says not in given


def test_each_read_is_told_and_an_example_is_not(work: Work, told: list[Fetched]) -> None:
    called(work, "get_prior_contract", contract_type="stack", part="Backend")
    assert "TaskFlow builder directive" in called(work, "get_prior_contract", contract_type="builder_directive")
    assert [(each.kind, each.part) for each in told] == [(Kind.STACK, "Backend")]


@pytest.mark.parametrize(("kind", "part"), [("blueprint", "Colours"), ("phases", ""), ("physics", "dropTask")])
def test_what_is_not_there_or_too_much_is_refused_with_what_there_is(work: Work, kind: str, part: str) -> None:
    with pytest.raises(ToolRetry, match=r"It has: |by their numbers"):
        called(work, "get_prior_contract", contract_type=kind, part=part)


def test_sections_of_the_answers_are_given_alone(work: Work) -> None:
    whole = called(work, "get_technical_preferences")
    data = called(work, "get_technical_preferences", sections=["Data"])
    assert "Python" in whole
    assert "Task: title" in data
    assert "Python" not in data
    assert "Member" not in called(work, "get_user_stories", sections=["Look and feel"])


def test_documents_are_offered_only_where_they_exist(work: Work) -> None:
    def offered(material: Material) -> Any:
        first = tools(Work(Kind.MANIFESTO, material, {}), [])[0]
        return first.parameters["properties"]

    assert offered(work.material) == {}
    assert offered(Material("TaskFlow", {"spec": "# Spec"}, {}))["document"]["enum"] == ["spec"]


@pytest.mark.parametrize("kind", ORDER)
def test_an_outline_is_short_and_leaves_no_sentence_in_the_middle(kind: Kind) -> None:
    text = outline(kind, TEXTS[kind])
    assert 0 < len(text) < len(TEXTS[kind])
    if kind.form == "markdown":
        assert "**" not in text
    assert ids(kind, "not readable: [") == "It has no ids."
