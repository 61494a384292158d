"""Answers that were received and not recorded: taken from the journal, never paid twice, never taken for another."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.agents.models.api import ApiModel
from forge.agents.relay.journal import Journal, Page, opened_page
from forge.git import Repository
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.turns import TurnStatus
from tests.agents.stand_ins import CALL, EVERY, Listener, model_at, prompt, stand_in
from tests.conftest import MakeRepo
from tests.support.stand_in import Reply
from tests.support.turns import Killed, Ledger, MemorySteps, request, turn

pytestmark = pytest.mark.req("X-04", "G-17")

REPLY = Reply(("Let me ", "look."), (CALL,), thinking="hm", input_tokens=200, output_tokens=30, cache_read=150)


async def asked(model: ApiModel, page: Page, text: str = "What is in a.txt?", **options: Listener) -> AssistantMessage:
    with page.opened():
        return await model.answer(prompt(UserMessage(text)), on_text=options.get("on_text", Listener()))


def same(one: AssistantMessage, other: AssistantMessage) -> bool:
    """But for the ids of calls, which are made up where a provider gives none, and a request that was made in vain."""
    calls = [[(call.name, call.arguments) for call in answer.calls] for answer in (one, other)]
    took = other.usage == one.usage or (
        other.usage.requests == 2 and other.usage.input_tokens >= one.usage.input_tokens
    )
    return took and (one.text, calls[0]) == (other.text, calls[1])


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", EVERY)
async def test_an_answer_that_was_received_is_not_asked_for_again(kind: str, tmp_path: Path) -> None:
    async with stand_in(kind, REPLY) as server:
        page = Journal(tmp_path / "answers").page("run", "model 1")
        first = await asked(model_at(server, kind), page)
        listener = Listener()
        # A new process: another connection, another page of the same place.
        again = await asked(
            model_at(server, kind), Journal(tmp_path / "answers").page("run", "model 1"), on_text=listener
        )
        assert same(first, again)
        assert "".join(listener.pieces) == first.text
        assert len(server.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", EVERY)
async def test_an_answer_that_broke_off_anywhere_is_asked_for_again_or_is_the_whole_one(
    kind: str, tmp_path: Path
) -> None:
    async with stand_in(kind, REPLY) as server:
        model = model_at(server, kind)
        place = tmp_path / "run-run" / "model%201"
        whole = await asked(model, Journal(tmp_path).page("run", "model 1"))
        data = place.read_bytes()
        ends = sorted({*range(0, len(data), 97), *range(len(data) - 8, len(data))})
        for end in ends:
            before = len(server.requests)
            place.write_bytes(data[:end])
            answer = await asked(model, Journal(tmp_path).page("run", "model 1"))
            assert same(whole, answer), end
            if end < len(data) // 2:
                assert len(server.requests) == before + 1, "half an answer was taken for one"


@pytest.mark.asyncio
async def test_other_words_get_an_answer_of_their_own(tmp_path: Path) -> None:
    async with stand_in("anthropic", Reply(("one",)), Reply(("two",))) as server:
        model = model_at(server, "anthropic")
        page = Journal(tmp_path).page("run", "model 1")
        assert (await asked(model, page)).text == "one"
        assert (await asked(model, page, "Something else?")).text == "two"
        assert (await asked(model, page, "Something else?")).text == "two"
        assert len(server.requests) == 2


@pytest.mark.asyncio
async def test_a_damaged_piece_is_not_taken(tmp_path: Path) -> None:
    async with stand_in("anthropic", REPLY) as server:
        model = model_at(server, "anthropic")
        whole = await asked(model, Journal(tmp_path).page("run", "model 1"))
        place = tmp_path / "run-run" / "model%201"
        data = place.read_bytes()
        place.write_bytes(data.replace(b"look.", b"lick."))
        assert b"lick." in place.read_bytes()
        assert same(whole, await asked(model, Journal(tmp_path).page("run", "model 1")))
        assert len(server.requests) == 2


@pytest.mark.asyncio
async def test_what_others_may_not_read_is_gone_when_the_run_has_ended(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "answers")
    async with stand_in("anthropic", REPLY) as server:
        model = model_at(server, "anthropic")
        for run in ("run", "turn/../other"):
            await asked(model, journal.page(run, "model 1"))
    kept = [path for path in tmp_path.rglob("*") if path != tmp_path]
    assert len([path for path in kept if path.is_file()]) == 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)
    journal.forget("run")
    assert [path.name for path in (tmp_path / "answers").iterdir()] == ["run-turn%2F..%2Fother"]


@pytest.mark.asyncio
async def test_an_answer_does_not_depend_on_its_journal(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("a file where the folder should be")
    async with stand_in("anthropic", REPLY) as server:
        answer = await asked(model_at(server, "anthropic"), Journal(tmp_path / "answers").page("run", "model 1"))
    assert answer.text == "Let me look."
    assert opened_page() is None


@pytest.mark.asyncio
@pytest.mark.parametrize("step", ["model 1", "model 2"])
async def test_a_turn_killed_between_an_answer_and_its_record_does_not_pay_twice(
    step: str, make_repo: MakeRepo
) -> None:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    asked_for, ledger = request("read it"), Ledger()
    async with stand_in("anthropic", Reply(("I look.",), (CALL,)), Reply(("It says hello.",))) as server:
        with pytest.raises(Killed):
            await turn(repo, model_at(server, "anthropic"), asked_for, MemorySteps(ledger, kill=("ran", step)))
        assert step not in ledger.done
        end = await turn(repo, model_at(server, "anthropic"), asked_for, MemorySteps(ledger))
        assert (end.status, end.text) == (TurnStatus.DONE, "It says hello.")
        assert end.usage.requests == len(server.requests) == 2
