"""Questions of a project to its person, at the client: who may be asked what, and what an answer can do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest

from forge.app.access.identity import LOCAL, audited, share
from forge.question_kinds import QuestionKind
from forge.store.questions import Questions
from forge.store.runs import Runs
from forge.subjects import project_subject
from tests.mcp.waiting_project import Waiting
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_server
from tests.support.mcp_wire import FORMS, PAGES, TASKS

pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-http")]
ANSWER = {"action": "accept", "content": {"answer_1": "Notion, as we have it."}}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


@pytest.fixture
def waiting(house: House) -> Waiting:
    return Waiting(house)


def test_the_person_answers_a_question_in_a_form_of_their_client(waiting: Waiting) -> None:
    waiting.confirm()
    first = waiting.ask()
    assert first["resultType"] == "input_required"
    (asked_of,) = first["inputRequests"].values()
    assert asked_of["params"]["mode"] == "form"
    assert "Notion" in asked_of["params"]["message"]
    assert "Onboarding" in asked_of["params"]["message"]
    assert "review-" not in first["requestState"]
    assert waiting.answers == []
    done = waiting.ask(inputResponses={"person": ANSWER}, requestState=first["requestState"])
    assert waiting.answers == ["Notion, as we have it."]
    # What follows is a decision, and no form decides.
    assert done["resultType"] == "complete"
    assert "Only the person can answer" in done["content"][0]["text"]
    deeds = {deed.action: deed for deed in audited(waiting.house.shop, LOCAL)}
    assert deeds["question.form"].detail == "answered in pytest"
    assert deeds["question.form"].key is not None


def test_an_answer_counts_for_its_person_its_call_and_some_minutes_alone(
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.confirm()
    state = waiting.ask()["requestState"]
    bob = waiting.house.user("bob")
    share(waiting.house.shop, LOCAL, "project", waiting.id, "bob", right="write")
    given = {"inputResponses": {"person": ANSWER}}
    tampered = state[:-4] + ("AAAA" if not state.endswith("AAAA") else "BBBB")
    for refused in (
        waiting.ask(key=bob, requestState=state, **given),
        waiting.ask(requestState=tampered, **given),
        waiting.ask(requestState=state, arguments={}, **given),
    ):
        assert refused["error"]["code"] == -32602
    # Without a state, nobody asked this.
    assert waiting.ask(**given)["resultType"] == "input_required"
    later = SimpleNamespace(time=lambda: time.time() + 3600)
    monkeypatch.setattr("mcp.server.request_state.time", later)
    assert waiting.ask(requestState=state, **given)["error"]["code"] == -32602
    assert waiting.answers == []


def test_an_answer_to_a_question_that_is_gone_is_asked_anew(waiting: Waiting) -> None:
    waiting.confirm()
    first = waiting.ask()
    waiting.ask(inputResponses={"person": ANSWER}, requestState=first["requestState"])
    again = {"action": "accept", "content": {"answer_1": "Confluence."}}
    waiting.ask(inputResponses={"person": again}, requestState=first["requestState"])
    assert waiting.answers == ["Notion, as we have it."]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_declines_has_answered_nothing(waiting: Waiting, action: str) -> None:
    waiting.confirm()
    first = waiting.ask()
    done = waiting.ask(inputResponses={"person": {"action": action}}, requestState=first["requestState"])
    assert f"They chose to {action}." in done["content"][0]["text"]
    assert waiting.answers == []


def test_without_the_capability_the_agent_learns_where_the_person_answers(waiting: Waiting) -> None:
    waiting.confirm()
    told = waiting.ask(can={})["content"][0]["text"]
    assert f"{waiting.house.url}/projects/{waiting.id}" in told
    assert "Notion" in told
    reader = Waiting.ask(waiting, key=_reader(waiting))
    assert "forge key new --scope run" in str(reader)


def _reader(waiting: Waiting) -> str:
    key = waiting.house.user("rita", ("read",))
    share(waiting.house.shop, LOCAL, "project", waiting.id, "rita", right="read")
    return key


def test_a_decision_is_made_in_forge_and_never_in_a_form(waiting: Waiting) -> None:
    assert waiting.phase == "human_review"
    told = waiting.ask(can=FORMS)
    assert told["resultType"] == "complete"
    first = waiting.ask(can=PAGES)
    (page,) = first["inputRequests"].values()
    assert page["params"]["mode"] == "url"
    assert page["params"]["url"] == f"{waiting.house.url}/projects/{waiting.id}"
    went = {"person": {"action": "accept", "content": {"confirm": True}}}
    done = waiting.ask(can=PAGES, inputResponses=went, requestState=first["requestState"])
    assert "They were shown" in done["content"][0]["text"]
    assert waiting.phase == "human_review"


def test_a_task_asks_in_between(waiting: Waiting) -> None:
    waiting.confirm()
    begun = waiting.ask(can={**TASKS, **FORMS})
    assert (begun["resultType"], begun["status"]) == ("task", "input_required")
    seen = waiting.ask("tasks/get", can={**TASKS, **FORMS}, taskId=begun["taskId"])
    (key,) = seen["inputRequests"]
    assert "Notion" in seen["inputRequests"][key]["params"]["message"]
    for responses in ({"question-9": ANSWER}, {key: "no answer"}, {key: ANSWER}):
        update = waiting.ask("tasks/update", can={**TASKS, **FORMS}, taskId=begun["taskId"], inputResponses=responses)
        assert update["resultType"] == "complete"
    deadline = time.monotonic() + 30
    while (seen := waiting.ask("tasks/get", can={**TASKS, **FORMS}, taskId=begun["taskId"]))["status"] == "working":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert seen["status"] == "completed", seen
    assert waiting.answers == ["Notion, as we have it."]


@pytest.mark.asyncio
async def test_the_older_generation_asks_while_the_call_waits(waiting: Waiting) -> None:
    waiting.confirm()
    messages = []

    async def fill_in(context: Any, params: Any) -> types.ElicitResult:
        del context
        messages.append(params.message)
        return types.ElicitResult(action="accept", content={"answer_1": "Confluence."})

    url, query = waiting.house.url, "?toolsets=projects"
    async with at_server(url, waiting.key, query, mode="legacy", elicitation_callback=fill_in) as agent:
        told = await agent.call("forge_wait_project", project=waiting.id)
    assert "Notion" in messages[0]
    assert waiting.answers == ["Confluence."]
    assert "Only the person can answer" in told


def test_a_run_asks_in_its_own_words_and_a_choice_has_its_options_alone(waiting: Waiting) -> None:
    shop = waiting.house.shop
    for number, kind in enumerate((QuestionKind.CHOICE, QuestionKind.DECISION)):
        Runs(shop.database).add(
            f"run-{number}", name="turn", subject=project_subject(waiting.id), queue=None, partition=None
        )
        options = ("red", "blue") if kind is QuestionKind.CHOICE else ("resume", "terminate")
        Questions(shop.database).ask(f"q{number}", run=f"run-{number}", text="Which?", options=options, kind=kind)
    first = waiting.ask()
    (form,) = first["inputRequests"].values()
    assert form["params"]["requestedSchema"]["properties"]["answer"]["enum"] == ["red", "blue"]
    wrong = {"person": {"action": "accept", "content": {"answer": "green"}}}
    refused = waiting.ask(inputResponses=wrong, requestState=first["requestState"])
    assert "Choose one of: red, blue" in refused["content"][0]["text"]
    right = {"person": {"action": "accept", "content": {"answer": "blue"}}}
    done = waiting.ask(inputResponses=right, requestState=first["requestState"])
    assert Questions(shop.database).get("q0").answer == "blue"
    assert "Only the person can answer" in done["content"][0]["text"]
    assert Questions(shop.database).get("q1").answer is None
