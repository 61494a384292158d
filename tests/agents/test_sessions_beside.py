"""Conversations beside the branch: the same turns, and nothing of them in the branch's history."""

from __future__ import annotations

import pytest

from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.sessions.conversation import conversation, fork_at, rewind_to
from forge.git import Repository
from forge.sessions.places import Sessions
from tests.conftest import Git, MakeRepo
from tests.support.turns import Killed, Ledger, MemorySteps, request, turn

pytestmark = [pytest.mark.asyncio, pytest.mark.req("G-07")]


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    return repo


def script(number: int) -> ScriptedModel:
    write = call("write_file", path=f"f{number}.txt", content=f"{number}\n")
    return ScriptedModel([Say("", (write,)), f"Done.\nCommit: Add f{number}"])


async def test_the_branch_shows_no_trace_of_the_conversation(repo: Repository, git: Git) -> None:
    for number in range(3):
        await turn(repo, script(number), request(f"add {number}", f"{number:012x}"), beside=True)
    await turn(repo, ScriptedModel(["Only talk."]), request("why?", "feedfeedfeed"), beside=True)
    assert not git(repo.git_dir, "log", "--format=%h", "ai/x", "--", ".forge")
    assert git(repo.git_dir, "log", "--format=%s", "main..ai/x").splitlines() == ["Add f2", "Add f1", "Add f0"]
    found = conversation(Sessions(repo, beside=True), "ai/x")
    assert [moment.turn.asked for moment in found.moments] == ["why?", "add 2", "add 1", "add 0"]
    assert [moment.commit for moment in found.moments[1:]] == git(repo.git_dir, "rev-list", "main..ai/x").splitlines()
    git(repo.git_dir, "fsck", "--full", "--strict")


async def test_the_model_remembers_and_the_context_is_kept(repo: Repository) -> None:
    first = ScriptedModel([Say("", (call("update_context", add=[{"path": "a.txt"}]),)), "I see."])
    await turn(repo, first, request("look"), beside=True)
    second = ScriptedModel(["Yes."])
    await turn(repo, second, request("still?", "feedfeedfeed"), beside=True)
    shared = first.prompts[-1].messages
    assert second.prompts[0].messages[: len(shared)] == shared
    sessions = Sessions(repo, beside=True)
    assert [file.path for file in sessions.head("ai/x").active_files] == ["a.txt"]


@pytest.mark.req("G-08")
async def test_forks_and_rewinds_take_the_conversation_along(repo: Repository) -> None:
    sessions = Sessions(repo, beside=True)
    for number in range(3):
        await turn(repo, script(number), request(f"add {number}", f"{number:012x}"), beside=True)
    fork_at(sessions, "ai/x", "2", "ai/y")
    assert [m.turn.asked for m in conversation(sessions, "ai/y").moments] == ["add 1", "add 0"]
    assert repo.commit_vfs("ai/y").file_exists("f1.txt")
    assert not repo.commit_vfs("ai/y").file_exists("f2.txt")
    rewind_to(sessions, "ai/x", "1")
    assert [m.turn.asked for m in conversation(sessions, "ai/x").moments] == ["add 0"]
    await turn(repo, script(7), request("add 7", "777777777777"), beside=True)
    assert [m.turn.asked for m in conversation(sessions, "ai/x").moments] == ["add 7", "add 0"]


@pytest.mark.req("X-04")
@pytest.mark.parametrize("when", ["before", "ran", "recorded"])
@pytest.mark.parametrize("writes", [True, False])
async def test_a_kill_around_the_commit_doubles_nothing(repo: Repository, when: str, writes: bool) -> None:
    ledger = Ledger()
    model = script(1) if writes else ScriptedModel(["Only talk."])
    with pytest.raises(Killed):
        await turn(repo, model, request("go"), MemorySteps(ledger, kill=(when, "commit")), beside=True)
    await turn(repo, ScriptedModel([]), request("go"), MemorySteps(ledger), beside=True)
    assert len(list(repo.log("ai/x", exclude=[repo.resolve("main")]))) == int(writes)
    found = conversation(Sessions(repo, beside=True), "ai/x")
    assert [moment.turn.asked for moment in found.moments] == ["go"]
    assert found.head.turns == 1


async def test_a_branch_with_a_conversation_in_its_tree_keeps_it_there(repo: Repository, git: Git) -> None:
    await turn(repo, script(0), request("add 0"))
    await turn(repo, script(1), request("add 1", "feedfeedfeed"), beside=True)
    assert len(git(repo.git_dir, "log", "--format=%h", "ai/x", "--", ".forge").splitlines()) == 2
    found = conversation(Sessions(repo, beside=True), "ai/x")
    assert [moment.turn.asked for moment in found.moments] == ["add 1", "add 0"]
