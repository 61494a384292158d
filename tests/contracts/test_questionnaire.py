"""The questionnaire: answers of people, answers that documents give, and where each comes from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.contracts import questionnaire
from forge.contracts.errors import AnswersMalformed, QuestionUnknown
from forge.contracts.material import Material
from forge.contracts.questionnaire import FILE, QUESTIONS, SECTIONS, answered, parse
from forge.projects.workspace import Workspace
from tests.contracts.project_documents import CONSTRAINTS, INTENT, SPEC

pytestmark = pytest.mark.req("C-03")


def test_the_seven_sections_have_questions_with_unique_ids() -> None:
    assert {each.section for each in QUESTIONS} == set(SECTIONS)
    assert len(SECTIONS) == 7
    assert len({each.id for each in QUESTIONS}) == len(QUESTIONS)


def test_answers_come_from_people_first_then_from_documents_with_their_origin() -> None:
    found = {
        each.question.id: (each.text, each.origin)
        for each in answered({"languages": "Go"}, intent=INTENT, spec=SPEC, constraints=CONSTRAINTS)
    }
    assert found["languages"] == ("Go", "person")
    assert found["product"] == ("A small web service for tasks.", "spec")
    assert found["problem"][1] == "intent"
    assert found["features"] == ("Create tasks\nWrite comments", "spec")
    assert found["out_of_scope"] == ("E-mail", "spec")
    assert found["frameworks"] == ("FastAPI", "spec")
    assert found["success"] == ("A task is saved.\nA comment is shown.", "constraints")
    assert found["constraints"] == ("No data leaves Europe.", "intent")
    assert found["style"] == ("", "")


def test_tools_give_what_they_are_for_and_say_who_said_it(tmp_path: Path) -> None:
    project = Workspace(tmp_path).create("Tasks", now=datetime.now(UTC))
    documents = {"docs/intent.md": INTENT, "docs/spec.md": SPEC, "docs/constraints.md": CONSTRAINTS}
    project.records.update(lambda _: documents | {FILE: "users: [Member]\n"}, "material")
    known = Material.of(project)
    assert Material.from_json(known.to_json()) == known
    intent, technical, stories = known.project_intent(), known.technical_preferences(), known.user_stories()
    assert "A small web service for tasks." in intent
    assert "Who hosts it?" in intent
    assert "SQLite" in intent
    assert "FastAPI" in technical
    assert "FastAPI" not in intent + stories
    assert "- Member" in stories
    # What a person typed needs no origin.
    assert "Who uses it?\n" in stories
    assert "(spec.md)" in stories
    assert "(spec.md)" in stories
    assert "Comments below a task" in stories
    assert known.project_intent("spec") == SPEC
    assert "no constraints.md" in Material("x").project_intent("constraints")


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=60)


@given(st.dictionaries(st.sampled_from([each.id for each in QUESTIONS]), st.lists(_TEXT, max_size=4)))
def test_answers_that_are_written_are_read_back(answers: dict[str, list[str]]) -> None:
    many = {each.id for each in QUESTIONS if each.many}
    given_ = {
        id_: "\n".join(lines if id_ in many else lines[:1]).replace("\x85", " ").strip()
        for id_, lines in answers.items()
    }
    clean = {id_: "\n".join(text.splitlines()) for id_, text in given_.items()}
    wanted = {id_: text for id_, text in clean.items() if text.strip()}
    assert parse(questionnaire.format(wanted)) == {id_: text for id_, text in wanted.items() if text}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("product: [", "line 1"),
        ("- product\n", "no names"),
        ("product: {a: 1}\n", "line 1: product is no text"),
        ("product: &a x\n", "Anchors"),
        ("product: a\nproduct: b\n", "occurs twice"),
        (f"product: {'x' * 9000}\n", "9,000 characters"),
        ("x" * 200_000, "longer than"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(text: str, says: str) -> None:
    with pytest.raises(AnswersMalformed, match=says):
        parse(text)


def test_a_question_that_is_not_asked_is_named() -> None:
    with pytest.raises(QuestionUnknown, match="colour"):
        parse("colour: red\n")
