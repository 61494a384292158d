"""A turn that asks the person: it waits, goes on with the answer, and keeps both in its conversation."""

from __future__ import annotations

import pytest

from forge.agents.scripted import Say, ScriptedModel, call
from forge.events import ToolEnded, ToolStarted
from forge.git import Repository
from forge.sessions.conversation import conversation
from forge.sessions.messages import AssistantMessage, ToolResult
from forge.sessions.turns import TurnStatus
from tests.conftest import MakeRepo
from tests.support.turns import Killed, Ledger, MemorySteps, request, turn

pytestmark = [pytest.mark.asyncio, pytest.mark.req("G-11", "G-06")]

ASKS = Say("One thing first.", (call("ask_user", question="Which colour?", choices=["red", "blue"]),))
WRITES = Say("", (call("write_file", path="sign.txt", content="blue\n"),))
SCRIPT = (ASKS, WRITES, Say("Made it blue.\n\nCommit: Add the sign"))


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    return repo


def results(repo: Repository) -> list[ToolResult]:
    (said,) = conversation(repo.commit_vfs("ai/x"))
    return [item for item in said.items if isinstance(item, ToolResult)]


async def test_the_answer_is_the_result_of_the_call_and_both_are_kept(repo: Repository) -> None:
    ledger = Ledger()
    end = await turn(repo, ScriptedModel(SCRIPT), request("a sign"), MemorySteps(ledger, answers=("blue",)))
    assert end.status is TurnStatus.DONE
    assert ledger.questions == [("Which colour?", ("red", "blue"))]
    (said,) = conversation(repo.commit_vfs("ai/x"))
    asked = next(item for item in said.items if isinstance(item, AssistantMessage))
    assert asked.calls[0].arguments == {"question": "Which colour?", "choices": ["red", "blue"]}
    assert next((each.name, each.text, each.failed) for each in results(repo)) == ("ask_user", "blue", False)
    told = [event for event in ledger.events if isinstance(event, ToolStarted | ToolEnded)][:2]
    assert isinstance(told[0], ToolStarted)
    assert told[0].about == "Which colour?"
    assert isinstance(told[1], ToolEnded)
    assert told[1].text == "blue"


@pytest.mark.parametrize("when", ["before", "ran", "recorded"])
async def test_killed_around_the_question_no_model_is_asked_again(repo: Repository, when: str) -> None:
    ledger = Ledger()
    model = ScriptedModel(SCRIPT, by_prompt=True)
    with pytest.raises(Killed):
        await turn(repo, model, request("a sign"), MemorySteps(ledger, kill=(when, "ask 1"), answers=("blue",)))
    assert model.calls == 1
    end = await turn(repo, model, request("a sign"), MemorySteps(ledger, answers=("blue",)))
    assert end.status is TurnStatus.DONE
    assert model.calls == 3
    assert ledger.ran.count("model 1") == 1
    assert results(repo)[0].text == "blue"


async def test_a_withdrawn_question_lets_the_model_decide(repo: Repository) -> None:
    end = await turn(repo, ScriptedModel(SCRIPT), request("a sign"), MemorySteps(Ledger(), answers=(None,)))
    assert end.status is TurnStatus.DONE
    assert results(repo)[0].failed
    assert "gave no answer" in results(repo)[0].text


async def test_cancelled_while_it_waits_the_turn_keeps_the_question_and_changes_nothing(repo: Repository) -> None:
    end = await turn(repo, ScriptedModel(SCRIPT), request("a sign"), MemorySteps(Ledger(), cancel="ask 1"))
    assert end.status is TurnStatus.CANCELLED
    assert end.files == ()
    assert [(each.name, each.failed) for each in results(repo)] == [("ask_user", True)]


@pytest.mark.req("X-06")
async def test_no_secret_goes_into_the_question_or_stays_of_the_answer(repo: Repository) -> None:
    secret = "hunter2-hunter2-hunter2"
    ledger = Ledger()
    asks = Say("", (call("ask_user", question="Is it the old one?", choices=["yes"]),))
    script = (asks, Say("Good."))
    end = await turn(
        repo, ScriptedModel(script), request("x"), MemorySteps(ledger, answers=(f"use {secret}",)), secrets=(secret,)
    )
    assert end.status is TurnStatus.DONE
    assert secret not in results(repo)[0].text
    assert results(repo)[0].text.startswith("use [redacted")


async def test_a_long_answer_is_cut_as_every_result_is(repo: Repository) -> None:
    await turn(repo, ScriptedModel(SCRIPT), request("a sign"), MemorySteps(Ledger(), answers=("x" * 90_000,)))
    assert len(results(repo)[0].text) < 31_000
