"""Trouble with a provider, seen from outside: told while it happens, counted, and called by its name in the end."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forge.agents.turn import TurnEnd
from forge.app.process.workshop import open_workshop
from forge.app.sessions.messages import cancel, end_of, follow, send_message
from forge.cli.terminal.turn_output import usage_line
from forge.events import Event, ModelRetryScheduled
from forge.git import Repository
from forge.sessions.turns import TurnStatus
from forge.settings import load
from forge.store.costs import Spent
from tests.conftest import MakeRepo
from tests.support.program_api import ProgramApi, program_api
from tests.support.stand_in import Reply, StandIn, anthropic, chat, google, responses

pytestmark = [pytest.mark.asyncio, pytest.mark.req("B-12", "G-17")]

CONFIG = """\
network:
  idle_seconds: 0.5
  connect_seconds: 1
  retries: {rate_limit: 2, overloaded: 1, server_error: 1, network: 1, timeout: 1, cut_off: 1, empty: 1}
agents: {call_timeout_seconds: 1}
"""
SPEAK = {"anthropic": anthropic, "openai-compatible": chat, "openai": responses, "google": google}
MODEL = {
    "anthropic": "anthropic:claude-sonnet-5",
    "openai-compatible": "openai-compatible:any",
    "openai": "openai:gpt-5.4",
    "google": "google:gemini-3.5-flash",
}
FAST = {"retry-after": "0"}


@dataclass
class Case:
    reply: Reply
    requests: int
    message: str
    told: tuple[str, ...] = ()
    """Kinds of retries."""
    tokens: bool | None = False
    """Whether the provider said any; None where providers differ."""
    done: bool = False
    more: dict[str, object] = field(default_factory=dict)


CASES = {
    "401": Case(Reply(status=401), 1, "refuses the key"),
    "429": Case(Reply(status=429, headers=FAST), 3, "limits requests", ("rate_limit",) * 2),
    "503": Case(Reply(status=503, headers=FAST), 2, "overloaded", ("overloaded",)),
    "500": Case(Reply(status=500, headers=FAST), 2, "500", ("server_error",)),
    "cut": Case(Reply(("half ", "of ", "it"), cut_after=2), 2, "brok", ("network",), tokens=None),
    "empty": Case(Reply(), 2, "empty answer, twice", ("empty",), tokens=True),
    "refused": Case(Reply(finish="content_filter"), 1, "content filter", tokens=True),
    "hanging": Case(Reply(("never",), pause=30), 2, "did not answer in time", ("timeout",)),
    "cut off": Case(Reply(("It is long",), finish="length"), 1, "", tokens=True, done=True),
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config.yaml").write_text(CONFIG)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FORGE_DATA_DIR": str(tmp_path / "data"),
        "FORGE_CONFIG": str(tmp_path / "config.yaml"),
    }


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    return Repository.open(make_repo({"a.txt": "hello\n"}))


def _at(kind: str, url: str) -> dict[str, str]:
    base = url if kind in ("anthropic", "google") else f"{url}/v1"
    name = {"openai-compatible": "OPENAI_COMPATIBLE"}.get(kind, kind.upper())
    keys = {"GEMINI_API_KEY": "k" * 30} if kind == "google" else {f"{name}_API_KEY": "sk-" + "k" * 30}
    options = f"base_url: '{base}', api: {_API.get(kind, 'auto')}"
    if kind == "openai-compatible":
        options += f", key_variable: {name}_API_KEY"
    return keys | {"config": f"providers: {{{kind}: {{{options}}}}}\n"}


_API = {"openai": "responses", "openai-compatible": "chat"}


async def _turn(repo: Repository, environ: dict[str, str], **options: str) -> tuple[TurnEnd, list[Event], Spent]:
    async with open_workshop(load(environ), environ) as shop:
        sent = await send_message(shop, repo, "ai/x", "say it", **options)
        heard = [event async for event in follow(shop, sent)]
        return await end_of(shop, sent.run), heard, shop.costs.total(branch="ai/x")


@pytest.mark.parametrize("kind", SPEAK)
@pytest.mark.parametrize("name", CASES)
async def test_every_request_is_counted_however_it_ends(
    name: str, kind: str, repo: Repository, environ: dict[str, str]
) -> None:
    case = CASES[name]
    if kind == "openai" and name in ("refused", "cut off"):
        pytest.skip("the stand-in of this API ends its answers in one way only")
    async with StandIn(SPEAK[kind], [case.reply]) as server:
        added = _at(kind, server.url)
        path = Path(environ["FORGE_CONFIG"])
        path.write_text(CONFIG + added.pop("config"))
        end, heard, spent = await _turn(repo, environ | added, model=MODEL[kind])
        sent = len(server.requests)
    assert (end.usage.requests, spent.requests) == (sent, sent)
    assert sent == case.requests
    assert end.status == (TurnStatus.DONE if case.done else TurnStatus.FAILED), end.reason
    assert case.message in end.reason
    if case.tokens is not None:
        assert bool(end.usage.input_tokens) is case.tokens
        assert end.usage.input_tokens == spent.input_tokens
    retries = [event for event in heard if isinstance(event, ModelRetryScheduled)]
    if name != "cut":  # some libraries see a broken connection, others an answer that is not whole
        assert tuple(event.kind for event in retries) == case.told
    assert len(retries) == len(case.told)
    line = usage_line(end)
    assert "No model" not in line
    assert line.startswith("1 request ·" if sent == 1 else f"{sent} requests ·")


async def test_a_model_that_hangs_is_given_up_after_the_time_for_calls(
    repo: Repository, environ: dict[str, str]
) -> None:
    config = "network: {connect_seconds: 0.2, retries: {timeout: 0}}\nagents: {call_timeout_seconds: 0.5}\n"
    Path(environ["FORGE_CONFIG"]).write_text(config)
    async with StandIn(anthropic, [Reply(("Half", "never"), pause=30)]) as server:
        environ |= {"ANTHROPIC_API_KEY": "sk-ant-" + "k" * 30, "ANTHROPIC_BASE_URL": server.url}
        async with asyncio.timeout(15):
            end, _, _ = await _turn(repo, environ, model=MODEL["anthropic"])
    assert (end.status, end.usage.requests) == (TurnStatus.FAILED, 1)
    assert "did not answer in time" in end.reason


async def test_a_provider_that_is_not_there_was_not_asked(repo: Repository, environ: dict[str, str]) -> None:
    environ |= {"ANTHROPIC_API_KEY": "sk-ant-" + "k" * 30, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    end, heard, spent = await _turn(repo, environ, model=MODEL["anthropic"])
    assert (end.usage.requests, spent.requests) == (0, 0)
    assert usage_line(end) == "No request is known to have reached a model."
    assert [event.text for event in heard if isinstance(event, ModelRetryScheduled)]


async def test_a_cancelled_turn_has_asked_what_it_asked(repo: Repository, environ: dict[str, str]) -> None:
    Path(environ["FORGE_CONFIG"]).write_text("")
    async with StandIn(anthropic, [Reply(("never",), pause=60)]) as server:
        environ |= {"ANTHROPIC_API_KEY": "sk-ant-" + "k" * 30, "ANTHROPIC_BASE_URL": server.url}
        async with open_workshop(load(environ), environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "say it", model=MODEL["anthropic"])
            while not server.requests:
                await asyncio.sleep(0.02)
            await cancel(shop, repo, "ai/x")
            end = await end_of(shop, sent.run)
            spent = shop.costs.total(branch="ai/x")
    assert end.status == TurnStatus.CANCELLED
    assert (end.usage.requests, spent.requests) == (1, 1)


async def test_retries_stop_at_the_limit_for_requests(repo: Repository, environ: dict[str, str]) -> None:
    Path(environ["FORGE_CONFIG"]).write_text("limits: {requests_per_turn: 2}\n")
    async with StandIn(anthropic, [Reply(status=503, headers=FAST)]) as server:
        environ |= {"ANTHROPIC_API_KEY": "sk-ant-" + "k" * 30, "ANTHROPIC_BASE_URL": server.url}
        end, _, spent = await _turn(repo, environ, model=MODEL["anthropic"])
        assert len(server.requests) == 2
    assert end.status == TurnStatus.LIMITED
    assert (end.usage.requests, spent.requests) == (2, 2)


async def test_a_retry_says_how_long_it_waits_and_how_often(repo: Repository, environ: dict[str, str]) -> None:
    replies = [Reply(status=529, headers={"retry-after": "2"}), Reply(("Done.",))]
    async with StandIn(anthropic, replies) as server:
        environ |= {"ANTHROPIC_API_KEY": "sk-ant-" + "k" * 30, "ANTHROPIC_BASE_URL": server.url}
        Path(environ["FORGE_CONFIG"]).write_text("")
        async with open_workshop(load(environ), environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "say it", model=MODEL["anthropic"])
            times: dict[str, float] = {}
            async for event in follow(shop, sent):
                times.setdefault(type(event).__name__, time.monotonic())
                if isinstance(event, ModelRetryScheduled):
                    told = event
            end = await end_of(shop, sent.run)
    assert told.text == "overloaded, retrying in 2 s (1 of 6)"
    assert (told.model, told.kind, told.attempt, told.attempts) == (MODEL["anthropic"], "overloaded", 1, 6)
    assert times["ModelAnswered"] - times["ModelRetryScheduled"] > 1.5  # told while it waits, not afterwards
    assert (end.status, end.usage.requests) == (TurnStatus.DONE, 2)


# Agent programs, with small scripts in their place that ask the API through the way out that each is given.

ASKS = """#!/usr/bin/env python3
import sys, urllib.request
sys.stdin.read()
for _ in range(2):
    request = urllib.request.Request("http://127.0.0.1:4571/v1/messages", data=b'{"messages": []}')
    try:
        urllib.request.urlopen(request, timeout=30).read()
    except Exception as e:
        print(e, file=sys.stderr, flush=True)
sys.exit(1)
"""
KEYS = {"claude": "ANTHROPIC", "codex": "OPENAI", "gemini": "GEMINI", "opencode": "ANTHROPIC"}
BASES = {"claude": "ANTHROPIC_BASE_URL", "codex": "OPENAI_BASE_URL", "gemini": "GOOGLE_GEMINI_BASE_URL"}


@pytest.fixture
def program(tmp_path: Path, environ: dict[str, str]) -> Callable[[str, ProgramApi], dict[str, str]]:
    def make(name: str, api: ProgramApi) -> dict[str, str]:
        place = tmp_path / "bin"
        place.mkdir()
        (place / name).write_text(ASKS)
        (place / name).chmod(0o755)
        found = {"PATH": f"{place}:/usr/bin:/bin", f"{KEYS[name]}_API_KEY": "sk-" + "k" * 30}
        return environ | found | {BASES.get(name, "ANTHROPIC_BASE_URL"): api.url}

    return make


@pytest.mark.req("P-14")
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("how", ["401", "429", "529", "answers"])
async def test_what_a_failing_program_asked_is_counted(
    name: str, how: str, repo: Repository, program: Callable[[str, ProgramApi], dict[str, str]]
) -> None:
    with program_api(deny=0 if how == "answers" else int(how)) as api:
        end, heard, spent = await _turn(repo, program(name, api), agent=name)
        assert len(api.asked) == 4  # two by each attempt
    assert end.status == TurnStatus.FAILED
    assert (end.usage.requests, spent.requests) == (4, 4)
    assert bool(end.usage.input_tokens) is (how == "answers")
    assert usage_line(end).startswith("4 requests ·")
    kinds = [event.kind for event in heard if isinstance(event, ModelRetryScheduled)]
    passing = {"429": "rate_limit", "529": "overloaded"}.get(how)
    assert kinds == [*([passing] * 2 if passing else []), "program", *([passing] * 2 if passing else [])]


@pytest.mark.req("P-14")
@pytest.mark.parametrize("name", KEYS)
async def test_a_program_whose_model_hangs_is_ended_in_time(
    name: str, repo: Repository, program: Callable[[str, ProgramApi], dict[str, str]]
) -> None:
    with program_api(hang=True) as api:
        began = time.monotonic()
        end, _, _ = await _turn(repo, program(name, api), agent=name)
        assert time.monotonic() - began < 20
    assert end.status == TurnStatus.FAILED
    assert "made no progress for 1 s" in end.reason
    assert end.usage.requests == 2
