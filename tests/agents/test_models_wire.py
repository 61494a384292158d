"""What goes over the wire to each provider, checked against servers on this machine that keep every request."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from typing import Any

import pytest

from forge.agents.model import Picture, Prompt
from forge.agents.models.conversion import NOT_RUN
from forge.sessions.messages import (
    AssistantMessage,
    ContextMessage,
    ToolCall,
    ToolResult,
    UserMessage,
    from_json,
    to_json,
)
from tests.agents.stand_ins import CALL, DELETE, EVERY, KEY, MODELS, READ, SPEAKS, Listener, model_at, prompt, stand_in
from tests.support.stand_in import Reply, Request, StandIn

pytestmark = pytest.mark.asyncio

PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "google": f"/v1/models/{MODELS['google']}:streamGenerateContent?alt=sse",
}


def names_of_tools(kind: str, body: dict[str, Any]) -> list[str]:
    tools = body["tools"]
    if kind == "google":
        return [tool["name"] for tool in tools[0]["functionDeclarations"]]
    return [tool.get("name") or tool["function"]["name"] for tool in tools]


def conversation(kind: str, body: dict[str, Any]) -> list[Any]:
    return next(body[key] for key in ("messages", "input", "contents") if key in body)


async def two_requests(kind: str) -> tuple[list[Request], AssistantMessage, AssistantMessage, Listener]:
    first = Reply(("Let me ", "look."), (CALL, ("delete_file", {"path": "b.txt"})), thinking="hm")
    second = Reply(("It says ", "hi."), input_tokens=200, output_tokens=30, cache_read=150)
    listener = Listener()
    async with stand_in(kind, first, second) as server:
        model = model_at(server, kind)
        opening = UserMessage("What is in a.txt?")
        asked = await model.answer(prompt(opening), on_text=listener)
        results = [ToolResult(c.id, c.name, f"result of {c.name}", failed=i == 1) for i, c in enumerate(asked.calls)]
        told = await model.answer(prompt(opening, asked, *results), on_text=listener)
        await model.close()
        return server.requests, asked, told, listener


@pytest.mark.req("G-17", "P-14")
@pytest.mark.parametrize("kind", EVERY)
async def test_every_provider_gets_its_own_shape_and_gives_text_calls_and_usage(kind: str) -> None:
    requests, asked, told, listener = await two_requests(kind)
    first, second = requests
    assert first.method == "POST"
    assert first.path == PATHS.get(kind, "/v1/chat/completions")
    sent_key = first.headers.get("x-goog-api-key") or first.headers["authorization"].removeprefix("Bearer ")
    assert sent_key == KEY
    assert first.headers["user-agent"].startswith("forge/")
    assert not [name for name in first.headers if "stainless" in name]
    assert names_of_tools(kind, first.json) == ["delete_file", "read_file"]
    assert "You work on a branch." in first.body.decode()
    assert (asked.text, asked.model) == ("Let me look.", model_name(kind))
    assert [(c.name, c.arguments) for c in asked.calls] == [CALL, ("delete_file", {"path": "b.txt"})]
    assert listener.pieces == ["Let me ", "look.", "It says ", "hi."]
    body = second.body.decode()
    assert "result of read_file" in body
    assert "result of delete_file" in body
    assert (told.text, told.calls) == ("It says hi.", ())
    used = told.usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.requests) == (200, 30, 150, 1)
    if kind in {"ollama", "workshop"}:
        assert used.cost is None
    else:
        assert used.cost is not None
        assert 0 < used.cost < 0.01


def model_name(kind: str) -> str:
    return f"{'openai' if kind == 'responses' else kind}:{MODELS[kind]}"


@pytest.mark.req("G-17")
@pytest.mark.parametrize("kind", EVERY)
async def test_each_request_begins_with_the_bytes_of_the_one_before(kind: str) -> None:
    (first, second), *_ = await two_requests(kind)
    before, after = first.json, second.json
    growing, longer = conversation(kind, before), conversation(kind, after)
    assert {k: v for k, v in before.items() if v is not growing} == {k: v for k, v in after.items() if v is not longer}
    if kind == "openrouter":  # its mark moves along with the latest message
        return
    assert longer[: len(growing)] == growing
    closing = {"google": 2, "anthropic": 2}.get(kind, 2)
    assert second.body.startswith(first.body[:-closing])


@pytest.mark.req("P-03")
@pytest.mark.parametrize("kind", EVERY)
async def test_pictures_follow_what_was_said(kind: str) -> None:
    picture = Picture("sketch.png", "image/png", b"\x89PNG\r\n\x1a\nrest")
    async with stand_in(kind, Reply(("A sketch.",))) as server:
        model = model_at(server, kind)
        asked = Prompt("s", (), (UserMessage("What is this?"),), pictures=(picture,))
        said = await model.answer(asked, on_text=lambda _: None)
        await model.close()
    assert said.text == "A sketch."
    sent = json.dumps(conversation(kind, server.requests[0].json))
    assert base64.b64encode(picture.data).decode() in sent.replace("-", "+").replace("_", "/")
    assert "image/png" in sent
    assert sent.index("What is this?") < sent.index("sketch.png")


@pytest.mark.req("G-17")
async def test_anthropic_is_told_what_to_cache_with_at_most_four_marks() -> None:
    (first, second), *_ = await two_requests("anthropic")
    for request in (first, second):
        body = request.json
        assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
        assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
        assert body["cache_control"]["type"] == "ephemeral"
        assert request.body.count(b'"cache_control"') <= 4
    assert "cache_control" not in json.dumps(second.json["messages"])


async def test_openai_gets_one_cache_key_for_a_conversation() -> None:
    for kind in ("openai", "responses"):
        (first, second), *_ = await two_requests(kind)
        assert first.json["prompt_cache_key"] == second.json["prompt_cache_key"]
    assert first.json["store"] is False


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("anthropic", '"signature":"sig-1=="'),
        ("responses", '"encrypted_content":"enc-1=="'),
        ("google", '"thoughtSignature":"c2lnbmF0dXJl"'),
    ],
)
async def test_thinking_goes_back_unchanged_to_its_own_model_only(kind: str, sent: str) -> None:
    (_, second), asked, *_ = await two_requests(kind)
    assert sent in second.body.decode()
    kept = from_json(json.loads(json.dumps(to_json(asked))))
    assert kept == asked
    results = [ToolResult(c.id, c.name, "x") for c in asked.calls]
    for other in ("anthropic", "openai", "google"):
        async with stand_in(other, Reply(("ok",))) as server:
            model = model_at(server, other, model="another")
            await model.answer(prompt(UserMessage("q"), asked, *results), on_text=lambda _: None)
            await model.close()
        body = server.requests[0].body.decode()
        assert sent not in body
        assert "Let me look." in body


async def test_thinking_that_was_altered_is_not_sent_back() -> None:
    _, asked, *_ = await two_requests("anthropic")
    data = to_json(asked)
    data["opaque"][1]["part"]["signature"] = "[redacted:high-entropy]"
    altered = from_json(data)
    async with stand_in("anthropic", Reply(("ok",))) as server:
        model = model_at(server, "anthropic")
        results = [ToolResult(c.id, c.name, "x") for c in asked.calls]
        await model.answer(prompt(UserMessage("q"), altered, *results), on_text=lambda _: None)
        await model.close()
    body = server.requests[0].body.decode()
    assert "redacted" not in body
    assert "thinking" not in body
    assert "toolu_1_0" in body


@pytest.mark.parametrize("kind", ["anthropic", "openai", "responses", "google"])
async def test_any_conversation_is_put_into_a_form_that_providers_take(kind: str) -> None:
    """Calls without results, results without calls, foreign ids, empty texts, the person speaking twice."""
    odd = AssistantMessage("", (ToolCall("böse id|1", "read_file", {"path": "a"}), ToolCall("x" * 90, "read_file", {})))
    async with stand_in(kind, Reply(("ok",))) as server:
        model = model_at(server, kind)
        messages = (
            ContextMessage("overview"),
            UserMessage("one"),
            AssistantMessage("", ()),
            odd,
            UserMessage("hurry"),
            ToolResult("böse id|1", "read_file", ""),
            UserMessage("   "),
            ToolResult("gone", "search", "orphan"),
        )
        answer = await model.answer(prompt(*messages), on_text=lambda _: None)
        await model.close()
    assert answer.text == "ok"
    body = server.requests[0].body.decode()
    assert "böse" not in body
    assert "x" * 90 not in body
    assert NOT_RUN in body
    assert "orphan" in body
    if kind == "anthropic":
        last = server.requests[0].json["messages"][-1]["content"]
        assert [block["type"] for block in last] == ["tool_result", "tool_result", "text", "text", "text"]
        assert all(block["text"].strip() for block in last if block["type"] == "text")


async def test_the_order_in_which_tools_are_given_does_not_matter() -> None:
    async with stand_in("anthropic", Reply(("ok",))) as server:
        model = model_at(server, "anthropic")
        for tools in ((READ, DELETE), (DELETE, READ)):
            await model.answer(prompt(tools=tools), on_text=lambda _: None)
        await model.close()
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.req("G-17")
async def test_openrouters_own_price_counts() -> None:
    async with stand_in("openrouter", Reply(("ok",), cost=0.0123)) as server:
        model = model_at(server, "openrouter")
        answer = await model.answer(prompt(), on_text=lambda _: None)
        await model.close()
    assert answer.usage.cost == pytest.approx(0.0123)
    assert server.requests[0].json["usage"] == {"include": True}


@pytest.mark.req("G-17")
async def test_written_and_read_cache_is_priced() -> None:
    async with stand_in(
        "anthropic", Reply(("ok",), input_tokens=10_000, cache_read=6_000, cache_write=3_000)
    ) as server:
        model = model_at(server, "anthropic")
        usage = (await model.answer(prompt(), on_text=lambda _: None)).usage
        await model.close()
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (10_000, 6_000, 3_000)
    assert usage.cost == pytest.approx((1_000 * 2 + 6_000 * 0.2 + 3_000 * 2.5 + 20 * 10) / 1e6)


@pytest.mark.parametrize("kind", ["anthropic", "openai", "google"])
async def test_an_answer_that_was_cut_at_its_limit_says_so(kind: str) -> None:
    listener = Listener()
    async with stand_in(kind, Reply(("half an ans",), finish="length")) as server:
        model = model_at(server, kind, output_tokens=256)
        answer = await model.answer(prompt(), on_text=listener)
        await model.close()
    assert answer.text.startswith("half an ans")
    assert "cut" in answer.text
    assert "".join(listener.pieces) == answer.text
    assert "256" in server.requests[0].body.decode()


async def test_a_model_can_be_asked_from_one_event_loop_after_another() -> None:
    """Each command of a program may bring its own loop; a connection of the old one is of no use then."""
    said: list[str] = []

    def another_loop() -> None:
        async def ask() -> None:
            async with StandIn(SPEAKS["openai"], [Reply(("ok",))]) as server:
                model = model_at(server, "openai")
                said.append((await model.answer(Prompt("s", (), (UserMessage("q"),)), on_text=lambda _: None)).text)
                await model.close()

        asyncio.run(ask())

    for _ in range(2):
        thread = threading.Thread(target=another_loop)
        thread.start()
        await asyncio.to_thread(thread.join)
    assert said == ["ok", "ok"]
