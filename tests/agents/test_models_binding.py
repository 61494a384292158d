"""Answers that a provider binds to a form: what goes over the wire, and what comes back as text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from forge.agents.answer_form import form_of
from forge.agents.errors import ModelFailed
from forge.agents.model import Prompt
from forge.deliverables.code.candidates import Proposal
from forge.deliverables.code.review import CodeReview
from forge.deliverables.plan.answers import BuilderForm
from forge.deliverables.plan.review import PlanReview
from forge.pipeline.build_phase import Completeness
from forge.pipeline.scene import Recognised
from forge.pipeline.specification_form import CodeAnswer, PlanAnswer
from forge.sessions.messages import UserMessage
from tests.agents.stand_ins import EVERY, Listener, model_at, stand_in
from tests.support.stand_in import Reply

pytestmark = pytest.mark.asyncio

FORMS: tuple[type[BaseModel], ...] = (
    CodeReview,
    PlanReview,
    Proposal,
    Recognised,
    Completeness,
    BuilderForm,
    CodeAnswer,
    PlanAnswer,
)
VERDICT = {"complete": True, "missing": []}


def asking(schema: type[BaseModel]) -> Prompt:
    return Prompt("You judge.", (), (UserMessage("Is it complete?"),), form=form_of(schema))


def sent_form(body: dict[str, Any]) -> Any:
    """Where each provider has it."""
    return (
        body.get("output_config", body).get("format")
        or body.get("output_format")
        or body.get("response_format")
        or body.get("text", {}).get("format")
        or body.get("generationConfig", {}).get("responseJsonSchema")
        or body.get("generationConfig", {}).get("responseSchema")
    )


@pytest.mark.req("P-09", "P-14")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("kind", EVERY)
async def test_every_provider_is_bound_to_every_form(kind: str, form: type[BaseModel]) -> None:
    async with stand_in(kind, Reply((json.dumps(VERDICT),))) as server:
        model = model_at(server, kind)
        answer = await model.answer(asking(form), on_text=Listener())
        await model.close()
        [request] = server.requests
    bound = sent_form(request.json)
    assert bound, request.json
    for name in form.model_fields:
        assert f'"{name}"' in json.dumps(bound)
    assert json.loads(answer.text) == VERDICT


@pytest.mark.req("P-14")
async def test_a_model_without_structured_output_has_to_call_a_tool() -> None:
    call = ("Completeness", VERDICT)
    async with stand_in("anthropic", Reply((), (call,))) as server:
        model = model_at(server, "anthropic", model="claude-3-opus-of-a-gateway")
        answer = await model.answer(asking(Completeness), on_text=Listener())
        await model.close()
        [request] = server.requests
    assert [tool["name"] for tool in request.json["tools"]] == ["Completeness"]
    assert request.json["tool_choice"]["type"] in {"any", "tool"}
    assert json.loads(answer.text) == VERDICT
    assert answer.calls == ()


@pytest.mark.req("P-14")
async def test_a_server_that_refuses_the_form_is_asked_without_it_from_then_on() -> None:
    said = Reply((json.dumps(VERDICT),))
    async with stand_in(
        "workshop", Reply(status=400, error={"message": "unknown field response_format"}), said, said
    ) as server:
        model = model_at(server, "workshop")
        first = await model.answer(asking(Completeness), on_text=Listener())
        second = await model.answer(asking(Completeness), on_text=Listener())
        await model.close()
    assert [bool(sent_form(request.json)) for request in server.requests] == [True, False, False]
    assert json.loads(first.text) == json.loads(second.text) == VERDICT


@pytest.mark.req("P-14")
async def test_a_request_that_is_wrong_in_itself_is_reported_and_binding_goes_on() -> None:
    wrong = Reply(status=400, error={"message": "the messages are wrong"})
    async with stand_in("workshop", wrong, wrong, Reply((json.dumps(VERDICT),))) as server:
        model = model_at(server, "workshop")
        with pytest.raises(ModelFailed, match="the messages are wrong"):
            await model.answer(asking(Completeness), on_text=Listener())
        await model.answer(asking(Completeness), on_text=Listener())
        await model.close()
    assert sent_form(server.requests[-1].json)


@pytest.mark.req("P-14")
async def test_a_prompt_without_a_form_is_not_bound() -> None:
    async with stand_in("openai", Reply(("# Title",))) as server:
        model = model_at(server, "openai")
        await model.answer(Prompt("You write.", (), (UserMessage("Write."),)), on_text=Listener())
        await model.close()
    assert not sent_form(server.requests[0].json)
