"""Providers that are overloaded, broken, silent or refuse: what is tried again, and what a person reads of it."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback

import pytest

from forge.agents.errors import KeyMissing, ModelFailed, ModelOverloaded, ModelUnknown, PromptTooLong
from forge.agents.models.api import ApiModel
from forge.agents.models.endpoint import Endpoint
from forge.errors import ForgeError
from forge.settings import Key, Network
from tests.agents.stand_ins import EVERY, KEY, Listener, model_at, prompt, stand_in
from tests.support.stand_in import Reply, StandIn, anthropic

pytestmark = pytest.mark.asyncio

GOOGLE_TOO_LONG = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
OK = Reply(("It says ", "hi."))
SHORT = Network(connect_seconds=1, idle_seconds=0.3, retry_seconds=0.5)


async def failing(kind: str, *replies: Reply, **options: object) -> tuple[ForgeError, int]:
    async with stand_in(kind, *replies) as server:
        model = model_at(server, kind, **options)
        with pytest.raises(ForgeError) as failed:
            await model.answer(prompt(), on_text=lambda _: None)
        await model.close()
        return failed.value, len(server.requests)


@pytest.mark.req("G-17", "P-14")
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_passing_failure_is_asked_again(kind: str, status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with stand_in(kind, Reply(status=status), OK) as server:
        model = model_at(server, kind)
        answer = await model.answer(prompt(), on_text=lambda _: None)
        await model.close()
    assert answer.text == "It says hi."
    assert len(server.requests) == 2
    assert KEY not in caplog.text


async def test_the_wait_that_a_provider_asks_for_is_kept() -> None:
    async with stand_in("anthropic", Reply(status=429, headers={"retry-after": "1"}), OK) as server:
        model = model_at(server, "anthropic")
        await model.prepare()
        begun = time.monotonic()
        await model.answer(prompt(), on_text=lambda _: None)
        await model.close()
    assert time.monotonic() - begun >= 1


@pytest.mark.req("P-14")
async def test_a_wait_beyond_the_patience_ends_at_once() -> None:
    begun = time.monotonic()
    error, asked = await failing("anthropic", Reply(status=429, headers={"retry-after": "600"}))
    assert isinstance(error, ModelOverloaded)
    assert "600 seconds" in error.hint
    assert asked == 1
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("kind", ["anthropic", "openai", "google"])
async def test_an_overload_that_does_not_pass_ends_after_a_while(kind: str) -> None:
    error, asked = await failing(kind, Reply(status=529 if kind == "anthropic" else 503), network=SHORT)
    assert isinstance(error, ModelOverloaded)
    assert error.message.endswith("."), "the hint follows it as a sentence"
    assert 2 <= asked <= 10


@pytest.mark.parametrize("kind", ["anthropic", "openai", "google"])
async def test_a_server_that_keeps_failing_is_given_up(kind: str) -> None:
    error, asked = await failing(kind, Reply(status=500), network=SHORT)
    assert isinstance(error, ModelFailed)
    assert asked >= 2


@pytest.mark.parametrize("kind", EVERY)
async def test_a_cut_stream_is_discarded_and_asked_again(kind: str) -> None:
    listener = Listener()
    half = Reply(("wrong ", "wrong ", "wrong "), cut_after={"anthropic": 4, "responses": 5}.get(kind, 2), pause=0.01)
    async with stand_in(kind, half, OK) as server:
        model = model_at(server, kind)
        answer = await model.answer(prompt(), on_text=listener)
        await model.close()
    assert answer.text == "It says hi."
    assert len(server.requests) == 2
    assert "".join(listener.pieces) == "It says hi."
    assert listener.restarts == 1


async def test_a_stream_that_ends_too_early_without_an_error_is_asked_again() -> None:
    """A gateway may close a connection properly in the middle of an answer."""

    def chopped(*args: object) -> list[str]:
        events = list(anthropic(*args))  # type: ignore[arg-type]
        return events if len(server.requests) > 1 else events[:3]

    server = StandIn(chopped, [OK])
    async with server:
        model = model_at(server, "anthropic")
        answer = await model.answer(prompt(), on_text=lambda _: None)
        await model.close()
    assert (answer.text, len(server.requests)) == ("It says hi.", 2)


@pytest.mark.req("P-14")
@pytest.mark.parametrize("kind", ["anthropic", "openai", "responses", "google"])
@pytest.mark.parametrize("place", [0, 2])
async def test_a_server_that_falls_silent_is_left(kind: str, place: int) -> None:
    error, _ = await failing(kind, Reply(("a", "b", "c"), pause=30, pause_from=place), network=SHORT)
    assert isinstance(error, ModelFailed)
    assert "in time" in error.message


@pytest.mark.parametrize("kind", EVERY)
async def test_an_empty_answer_is_asked_for_once_more(kind: str) -> None:
    async with stand_in(kind, Reply(), OK) as server:
        model = model_at(server, kind)
        assert (await model.answer(prompt(), on_text=lambda _: None)).text == "It says hi."
        await model.close()
    error, asked = await failing(kind, Reply())
    assert isinstance(error, ModelFailed)
    assert asked == 2


@pytest.mark.req("X-06")
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_origin_and_never_shown(kind: str, status: int) -> None:
    said = {"error": {"type": "authentication_error", "code": "x", "message": f"Incorrect API key provided: {KEY}"}}
    error, asked = await failing(kind, Reply(status=status, error=said))
    assert isinstance(error, KeyMissing)
    assert "variable SOME_KEY" in error.message
    assert asked == 1
    assert KEY not in "".join(traceback.format_exception(error)) + error.hint


async def test_googles_way_of_refusing_a_key_is_understood() -> None:
    said = {
        "error": {
            "code": 400,
            "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT",
        }
    }
    error, _ = await failing("google", Reply(status=400, error=said))
    assert isinstance(error, KeyMissing)


@pytest.mark.req("X-06")
@pytest.mark.parametrize("kind", EVERY)
async def test_whatever_a_provider_says_the_key_is_not_in_the_error(kind: str) -> None:
    for status in (400, 402, 404, 422, 500):
        said = {"error": {"message": f"no good: {KEY}", "type": "invalid_request_error"}}
        error, _ = await failing(kind, Reply(status=status, error=said), network=SHORT)
        assert KEY not in "".join(traceback.format_exception(error)) + error.hint


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("anthropic", {"type": "invalid_request_error", "message": "prompt is too long: 210000 > 200000 maximum"}),
        ("openai", {"code": "context_length_exceeded", "message": "maximum context length"}),
        ("google", {"code": 400, "status": "INVALID_ARGUMENT", "message": GOOGLE_TOO_LONG}),
    ],
)
async def test_a_prompt_that_is_too_long_is_told_apart(kind: str, said: dict[str, object]) -> None:
    error, asked = await failing(kind, Reply(status=400, error={"type": "error", "error": said}))
    assert isinstance(error, PromptTooLong)
    assert asked == 1


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_a_model_that_the_provider_does_not_know_is_said(kind: str) -> None:
    said = {
        "type": "error",
        "error": {"type": "not_found_error", "code": "model_not_found", "message": "no such model"},
    }
    error, _ = await failing(kind, Reply(status=404, error=said))
    assert isinstance(error, ModelUnknown)


async def test_a_server_that_is_not_there_is_said_with_its_host() -> None:
    endpoint = Endpoint("workshop", "m", "http://127.0.0.1:9", Key(KEY, "x"), SHORT, first_wait=0.01)
    with pytest.raises(ModelFailed, match=r"127\.0\.0\.1"):
        await ApiModel(endpoint).answer(prompt(), on_text=lambda _: None)


@pytest.mark.req("G-17")
@pytest.mark.parametrize("kind", EVERY)
async def test_cancelling_closes_the_connection_at_once(kind: str) -> None:
    listener = Listener()
    async with stand_in(kind, Reply(("one ",) * 100, pause=0.05)) as server:
        model = model_at(server, kind)
        asking = asyncio.ensure_future(model.answer(prompt(), on_text=listener))
        while not listener.pieces:
            await asyncio.sleep(0.01)
        begun = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        while not server.closed_early:
            await asyncio.sleep(0.01)
            assert time.monotonic() - begun < 2
        assert len(server.requests) == 1
        await model.close()


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with stand_in("ollama", OK) as server:
        model = model_at(server, "ollama")
        assert (await model.answer(prompt(), on_text=lambda _: None)).text == "It says hi."
        await model.close()


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    async with stand_in("openai", OK) as elsewhere:
        moved = Reply(status=307, headers={"location": f"{elsewhere.url}/v1/chat/completions"})
        error, _ = await failing("openai", moved)
        assert not elsewhere.requests
    assert isinstance(error, ModelFailed)
