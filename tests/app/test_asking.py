"""Turns that ask the person, on the real engine: they wait over restarts, are answered once, and leave nothing open."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from forge.agents.models import registry
from forge.agents.scripted import Say, ScriptedModel, call
from forge.app import questions
from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop, open_workshop
from forge.app.repositories.catalog import id_of
from forge.app.sessions import messages, turn_run
from forge.app.sessions.conversation import conversation, sessions_of
from forge.app.sessions.messages import SentMessage, end_of, send_message
from forge.engine.run import Run
from forge.events import QuestionAsked, QuestionClosed
from forge.git import Repository
from forge.git.refs.reservations import BranchBusy
from forge.sessions.messages import ToolResult
from forge.sessions.turns import TurnStatus
from forge.settings import load
from forge.store.questions import Questions
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("G-11", "X-04")

ASK = {"calls": [{"name": "ask_user", "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}}]}
ANSWERS = (ASK, {"text": "Good."})


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    return Repository.open(make_repo({"a.txt": "hello\n"}))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config.yaml").touch()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FORGE_DATA_DIR": str(tmp_path / "data"),
        "FORGE_CONFIG": str(tmp_path / "config.yaml"),
    }


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(answer)}\n" for answer in ANSWERS))
    return f"recorded:{path}"


@asynccontextmanager
async def at_work(environ: dict[str, str]) -> AsyncIterator[Workshop]:
    async with open_workshop(load(environ), environ, serve=True) as shop:
        yield shop


async def asked(shop: Workshop) -> questions.QuestionEntry:
    async with asyncio.timeout(30):
        while not (found := await asyncio.to_thread(questions.open_questions, shop, LOCAL)):
            await asyncio.sleep(0.02)
    (question,) = found
    return question


def results(repo: Repository, environ: dict[str, str]) -> list[tuple[str, bool]]:
    (moment,) = conversation(sessions_of(repo, load(environ)), "ai/x").moments
    return [(item.text, item.failed) for item in moment.turn.items if isinstance(item, ToolResult)]


def heard(shop: Workshop, sent: SentMessage) -> list[Any]:
    found = [item.event for item in shop.events.after(sent.topic, sent.after)]
    return [event for event in found if isinstance(event, QuestionAsked | QuestionClosed)]


def test_a_turn_waits_for_the_answer_and_goes_on_with_it(repo: Repository, environ: dict[str, str], model: str) -> None:
    async def life() -> None:
        async with at_work(environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model=model)
            question = await asked(shop)
            assert (question.text, question.options) == ("Which colour?", ("red", "blue"))
            assert (question.repository, question.branch) == (id_of(repo), "ai/x")
            with pytest.raises(BranchBusy):
                await send_message(shop, repo, "ai/x", "and another", model=model)
            assert (await questions.answer(shop, LOCAL, question.id, "green")).counted
            end = await end_of(shop, sent.run)
            assert (end.status, end.text) == (TurnStatus.DONE, "Good.")
            asked_, closed = heard(shop, sent)
            assert (asked_.question, closed.question, closed.answer) == (question.id, question.id, "green")

    asyncio.run(life())
    assert results(repo, environ) == [("green", False)]


def test_cancelling_the_turn_closes_its_question(repo: Repository, environ: dict[str, str], model: str) -> None:
    async def life() -> None:
        async with at_work(environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model=model)
            await asked(shop)
            await messages.cancel(shop, repo, "ai/x")
            await is_cancelled(shop, sent)

    asyncio.run(life())
    assert results(repo, environ) == [("Not carried out: the turn ended.", True)]


def test_a_turn_cancelled_before_it_came_back_to_its_question_closes_it_too(
    repo: Repository, environ: dict[str, str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = turn_run._turn

    async def once_cancelled(shop: Workshop, run: Run, arguments: dict[str, Any]) -> dict[str, Any]:
        while not run.is_cancelled:
            await asyncio.sleep(0.01)
        return await going_on(shop, run, arguments)

    async def life() -> None:
        async with at_work(environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model=model)
            await asked(shop)
        monkeypatch.setattr(turn_run, "_turn", once_cancelled)
        async with at_work(environ) as shop:
            await messages.cancel(shop, repo, "ai/x")
            await is_cancelled(shop, sent)

    asyncio.run(life())
    assert results(repo, environ) == [("Not carried out: the turn ended.", True)]


async def is_cancelled(shop: Workshop, sent: SentMessage) -> None:
    assert (await end_of(shop, sent.run)).status is TurnStatus.CANCELLED
    assert questions.open_questions(shop, LOCAL) == ()
    _, closed = heard(shop, sent)
    assert (closed.how, closed.answer) == ("cancelled", None)


def test_a_question_outlives_its_process_and_no_model_is_asked_again(
    repo: Repository, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([Say("", (call("ask_user", question="Which colour?"),)), "Good."], by_prompt=True)
    monkeypatch.setattr(registry, "resolve", lambda *_: model)

    async def life() -> None:
        async with at_work(environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model="scripted")
            first = await asked(shop)
        async with at_work(environ) as shop:
            assert (await asked(shop)).id == first.id
            with pytest.raises(BranchBusy, match="Which colour") as refused:
                await asyncio.wait_for(send_message(shop, repo, "ai/x", "more", model="scripted"), 30)
            assert "forge session answer --branch ai/x" in refused.value.hint
            await questions.answer(shop, LOCAL, first.id, "blue")
            assert (await end_of(shop, sent.run)).status is TurnStatus.DONE
            assert [type(event) for event in heard(shop, sent)] == [QuestionAsked, QuestionClosed]

    asyncio.run(life())
    assert model.calls == 2
    assert "ask_user" in [tool.name for tool in model.prompts[0].tools]
    assert results(repo, environ) == [("blue", False)]


def test_an_answer_given_while_nobody_works_counts(repo: Repository, environ: dict[str, str], model: str) -> None:
    async def life() -> None:
        async with at_work(environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model=model)
            question = await asked(shop)
        async with open_workshop(load(environ), environ) as shop:
            await questions.answer(shop, LOCAL, question.id, "red")
        async with at_work(environ) as shop:
            assert (await end_of(shop, sent.run)).status is TurnStatus.DONE

    asyncio.run(life())
    assert results(repo, environ) == [("red", False)]


def test_where_nobody_can_answer_the_model_cannot_ask(repo: Repository, environ: dict[str, str], model: str) -> None:
    async def life() -> None:
        async with at_work(environ) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model=model, asks=False)
            assert (await end_of(shop, sent.run)).status is TurnStatus.DONE

    asyncio.run(life())
    ((text, failed),) = results(repo, environ)
    assert failed
    assert text.startswith("The tool ask_user is not allowed here.")


@pytest.mark.req("X-06")
def test_a_secret_in_an_answer_is_kept_nowhere(repo: Repository, environ: dict[str, str], model: str) -> None:
    secret = "sk-ant-api03-" + "Zq7" * 12

    async def life() -> None:
        async with at_work(environ | {"ANTHROPIC_API_KEY": secret}) as shop:
            sent = await send_message(shop, repo, "ai/x", "a sign", model=model)
            question = await asked(shop)
            await questions.answer(shop, LOCAL, question.id, f"with {secret}")
            await end_of(shop, sent.run)
            kept = Questions(shop.database).get(question.id).answer
            assert kept is not None
            assert kept.startswith("with [redacted")
            assert all(secret not in str(event) for event in heard(shop, sent))

    asyncio.run(life())
    assert secret not in results(repo, environ)[0][0]
