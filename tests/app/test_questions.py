"""Questions through the one door: seen by whom they are for, answered once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sqlalchemy import event

from forge.app import questions
from forge.app.access.identity import ALL_SCOPES, LOCAL, Who, record_new
from forge.app.process.workshop import Workshop
from forge.app.projects.named_run import ActionEffect
from forge.errors import Conflict, Denied, InvalidInput, NotFound
from forge.pipeline.actions import Action
from forge.question_kinds import QuestionKind
from forge.store.questions import Questions
from forge.store.runs import Runs
from forge.subjects import Subject, branch_subject, project_subject
from tests.app.facade import BO, Place, place, shop
from tests.support.scripted_projects import Office, Script, at_specification, by_stand_in, office, pressed, script, seen

__all__ = ["office", "place", "script", "shop"]

pytestmark = pytest.mark.req("X-02")


def asked(
    shop: Workshop,
    id_: str,
    subject: Subject,
    options: tuple[str, ...] = (),
    kind: QuestionKind = QuestionKind.TEXT,
) -> None:
    Runs(shop.database).add(f"run-{id_}", name="turn", subject=subject, queue=None, partition=None)
    Questions(shop.database).ask(id_, run=f"run-{id_}", text=f"what about {id_}?", options=options, kind=kind)


def test_open_questions_tell_what_they_are_about(place: Place) -> None:
    asked(place.shop, "q1", project_subject("p1"), ("resume", "terminate"))
    asked(place.shop, "q2", branch_subject(place.id, "ai/x"))
    first, second = questions.open_questions(place.shop, LOCAL)
    assert (first.id, first.project, first.repository, first.options) == ("q1", "p1", None, ("resume", "terminate"))
    assert (second.project, second.repository, second.branch) == (None, place.id, "ai/x")


def test_questions_of_others_are_missing_like_those_that_never_were(place: Place) -> None:
    asked(place.shop, "q1", project_subject("p1"))
    asked(place.shop, "q2", project_subject("p2"))
    record_new(place.shop, BO, "project", "p2")
    assert [each.id for each in questions.open_questions(place.shop, BO)] == ["q2"]
    messages = []
    for id_ in ("q1", "q9"):
        with pytest.raises(NotFound) as refused:
            questions.question(place.shop, BO, id_)
        messages.append(refused.value.message.replace(id_, "ID"))
        with pytest.raises(NotFound):
            asyncio.run(questions.answer(place.shop, BO, id_, "yes"))
    assert messages[0] == messages[1]


@pytest.mark.req("X-06")
def test_a_question_of_somebody_else_takes_the_same_work_as_a_missing_one(place: Place) -> None:
    asked(place.shop, "q1", project_subject("p1"))
    asked(place.shop, "q2", branch_subject(place.id, "ai/x"))
    done: dict[str, list[str]] = {}
    for id_ in ("q1", "q2", "q9"):
        statements = done[id_] = []

        def noted(*about: Any, into: list[str] = statements) -> None:
            into.append(about[2])

        event.listen(place.shop.database.engine, "before_cursor_execute", noted)
        try:
            with pytest.raises(NotFound):
                questions.question(place.shop, BO, id_)
        finally:
            event.remove(place.shop.database.engine, "before_cursor_execute", noted)
    assert done["q1"] == done["q2"] == done["q9"]


def test_the_first_answer_counts(place: Place) -> None:
    asked(place.shop, "q", branch_subject(place.id, "ai/x"))

    async def answered() -> None:
        assert (await questions.answer(place.shop, LOCAL, "q", "yes")).counted
        assert not (await questions.answer(place.shop, LOCAL, "q", "yes")).counted
        with pytest.raises(Conflict) as refused:
            await questions.answer(place.shop, LOCAL, "q", "no")
        assert refused.value.code == "question_closed"

    asyncio.run(answered())
    assert questions.question(place.shop, LOCAL, "q").answer == "yes"
    assert questions.open_questions(place.shop, LOCAL) == ()
    assert place.deeds() == ["repository.add", "question.answer"]


@pytest.mark.req("X-06")
def test_an_answer_is_kept_without_secrets(place: Place) -> None:
    token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    asked(place.shop, "q", branch_subject(place.id, "ai/x"))
    asyncio.run(questions.answer(place.shop, LOCAL, "q", f"use {token}"))
    assert questions.question(place.shop, LOCAL, "q").answer == "use [redacted:github-token]"


def test_an_answer_needs_words_and_the_scope(place: Place) -> None:
    asked(place.shop, "q", branch_subject(place.id, "ai/x"))
    with pytest.raises(InvalidInput):
        asyncio.run(questions.answer(place.shop, LOCAL, "q", "  "))
    with pytest.raises(Denied):
        asyncio.run(questions.answer(place.shop, Who("local", "you", ALL_SCOPES - {"run"}), "q", "yes"))


def test_a_projects_question_takes_only_its_options(place: Place) -> None:
    asked(place.shop, "q", project_subject("p1"), ("resume", "terminate"), QuestionKind.DECISION)
    with pytest.raises(InvalidInput) as refused:
        asyncio.run(questions.answer(place.shop, LOCAL, "q", "whatever you like"))
    assert "resume" in refused.value.hint
    assert questions.question(place.shop, LOCAL, "q").state == "open"


@pytest.mark.parametrize("kind", [QuestionKind.CHOICE, QuestionKind.TEXT])
def test_a_run_of_a_project_that_offers_colours_gets_one(office: Office, script: Script, kind: QuestionKind) -> None:
    del script

    async def answered(shop: Workshop) -> None:
        project = await at_specification(shop)
        asked(shop, "q", project.subject, ("red", "blue"), kind)
        assert (await questions.answer(shop, LOCAL, "q", "red")).counted
        found = questions.question(shop, LOCAL, "q")
        assert (found.state, found.answer, found.kind) == ("answered", "red", kind)

    office.do(answered)


def test_a_choice_takes_nothing_but_its_options(place: Place) -> None:
    asked(place.shop, "q", branch_subject(place.id, "ai/x"), ("red", "blue"), QuestionKind.CHOICE)
    with pytest.raises(InvalidInput) as refused:
        asyncio.run(questions.answer(place.shop, LOCAL, "q", "green"))
    assert (refused.value.message, refused.value.hint) == (
        "'green' is not among the answers.",
        "Choose one of: red, blue.",
    )
    assert questions.question(place.shop, LOCAL, "q").state == "open"
    assert asyncio.run(questions.answer(place.shop, LOCAL, "q", " blue ")).counted
    assert questions.question(place.shop, LOCAL, "q").answer == "blue"


@pytest.mark.req("P-12")
def test_a_build_that_asks_goes_on_with_the_answer(office: Office, script: Script) -> None:
    stuck = {"stuck": True, "reason": "Indoors or outdoors?", "content": ""}
    script.answers["plan-build"] = lambda task: by_stand_in(task) if task.material["answers"] else json.dumps(stuck)

    async def asked_and_answered(shop: Workshop) -> None:
        project = await at_specification(shop)
        await pressed(shop, project, Action.CONFIRM)
        [question] = questions.open_questions(shop, LOCAL)
        assert (question.project, question.text) == (project.id, "Indoors or outdoors?")
        after = shop.events.last(f"project:{project.id}")
        first, second = await asyncio.gather(
            questions.answer(shop, LOCAL, question.id, "Outdoors."),
            questions.answer(shop, LOCAL, question.id, "Outdoors."),
        )
        assert sorted([first.counted, second.counted]) == [False, True]
        ended = await seen(shop, project, ActionEffect(changed=True, run=question.run, after=after))
        assert ended.phase == "done"
        assert not (await questions.answer(shop, LOCAL, question.id, "Outdoors.")).counted
        with pytest.raises(Conflict):
            await questions.answer(shop, LOCAL, question.id, "Indoors.")

    office.do(asked_and_answered)
