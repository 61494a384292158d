"""A turn: one message, one commit with the change and the conversation, whatever happens in between."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from forge.agents.errors import ModelOverloaded
from forge.agents.limit_check import Spent
from forge.agents.scripted import Say, ScriptedModel, call
from forge.agents.turn_commit import land
from forge.events import TextStreamed, ToolEnded, TurnCommitted, TurnSetAside, TurnStarted, TurnStopped
from forge.git import Repository
from forge.git.refs.reservations import BranchBusy, reservation
from forge.sessions.conversation import conversation, read_turn
from forge.sessions.messages import AssistantMessage, ContextMessage, ToolResult, UserMessage
from forge.sessions.places import Sessions
from forge.sessions.turns import Turn, TurnStatus, turn_id
from forge.settings import CostLimits
from tests.conftest import Git, MakeRepo
from tests.support.turns import Killed, Ledger, MemorySteps, request, turn

pytestmark = pytest.mark.asyncio

WRITES = (
    Say("I will add it.", (call("write_file", path="b.txt", content="new\n"), call("read_file", path="a.txt"))),
    Say("", (call("search_replace", path="a.txt", search="hello", replace="hullo"),)),
    Say("Added b.txt and mended a.txt.\n\nCommit: Add b.txt and mend the greeting"),
)


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n", "AGENTS.md": "Be kind.\n"}))
    repo.create_branch("ai/x", "main")
    return repo


@pytest.mark.req("G-06", "G-07")
async def test_a_turn_is_one_commit_with_the_change_and_the_conversation(repo: Repository, git: Git) -> None:
    before = repo.refs.tip("ai/x")
    ledger = Ledger()
    end = await turn(repo, ScriptedModel(WRITES), request("add b.txt, please"), MemorySteps(ledger))
    commit = repo.commit(str(end.commit))
    assert commit.parents == (before,)
    assert repo.refs.tip("ai/x") == end.commit
    assert commit.subject == "Add b.txt and mend the greeting"
    assert "Added b.txt and mended a.txt." in commit.message
    assert f"Forge-Turn: {end.turn}" in commit.message
    assert "Commit:" not in commit.message
    files = repo.commit_vfs("ai/x")
    assert (files.read_file("b.txt"), files.read_file("a.txt")) == ("new\n", "hullo\n")
    assert end.files == ("a.txt", "b.txt")
    assert end.text == "Added b.txt and mended a.txt."
    assert end.usage.requests == 3
    (said,) = conversation(files)
    assert said.asked == "add b.txt, please"
    assert [type(item) for item in said.items if not isinstance(item, ContextMessage)][-6:] == [
        AssistantMessage,
        ToolResult,
        ToolResult,
        AssistantMessage,
        ToolResult,
        AssistantMessage,
    ]
    kinds = [type(event) for event in ledger.events if not isinstance(event, TextStreamed)]
    assert kinds[0] is TurnStarted
    assert kinds[-1] is TurnCommitted
    git(repo.git_dir, "fsck", "--full", "--strict")


@pytest.mark.req("G-06")
async def test_a_turn_that_changes_no_file_still_keeps_the_conversation(repo: Repository) -> None:
    end = await turn(repo, ScriptedModel(["It greets."]), request("what does a.txt do?"))
    assert end.files == ()
    assert repo.commit(str(end.commit)).subject == "chat: what does a.txt do?"
    assert [each.asked for each in conversation(repo.commit_vfs("ai/x"))] == ["what does a.txt do?"]


@pytest.mark.req("P-07")
@pytest.mark.parametrize(
    "script", [["It is all there."], [ModelOverloaded("Too busy.", hint="")]], ids=["idle", "failed"]
)
async def test_a_build_turn_that_changes_no_file_makes_no_commit(repo: Repository, script: list[Any]) -> None:
    before = repo.refs.tip("ai/x")
    end = await turn(repo, ScriptedModel(script), replace(request("Task `x`: do it"), is_build=True))
    assert (end.commit, repo.refs.tip("ai/x")) == (before, before)


@pytest.mark.req("P-07")
async def test_an_idle_build_turn_keeps_its_words_beside_the_branch_where_conversations_are_kept_there(
    repo: Repository,
) -> None:
    before = repo.refs.tip("ai/x")
    asked = replace(request("Task `x`: do it"), is_build=True)
    end = await turn(repo, ScriptedModel(["It is all there."]), asked, beside=True)
    assert repo.refs.tip("ai/x") == before
    assert read_turn(repo.commit_vfs(str(end.commit)), end.turn).asked == "Task `x`: do it"


@pytest.mark.req("P-07")
async def test_a_build_commit_has_the_title_of_its_task_or_the_subject_of_the_model(repo: Repository) -> None:
    asked = replace(request("Task `x`: a long order"), title="Parse durations", is_build=True)
    script = [Say("", (call("write_file", path="c", content="x"),)), "Done."]
    end = await turn(repo, ScriptedModel(script), asked)
    assert repo.commit(str(end.commit)).subject == "Parse durations"
    script = [Say("", (call("write_file", path="d", content="x"),)), "Done.\n\nCommit: Add d"]
    end = await turn(repo, ScriptedModel(script), replace(asked, mark="feedfeedfeed"))
    assert repo.commit(str(end.commit)).subject == "Add d"


@pytest.mark.req("G-06")
async def test_without_a_subject_of_the_model_the_commit_says_what_was_asked(repo: Repository) -> None:
    script = [Say("", (call("write_file", path="c", content="x"),)), "Done."]
    end = await turn(repo, ScriptedModel(script), request("make c\nwith an x " + "and more " * 20))
    subject = repo.commit(str(end.commit)).subject
    assert subject.startswith("ai: make c with an x and more")
    assert len(subject) <= 80


@pytest.mark.req("G-06", "X-04")
async def test_a_failing_model_leaves_the_files_as_they_were_and_keeps_the_conversation(repo: Repository) -> None:
    script = [WRITES[0], ModelOverloaded("The provider is overloaded.", hint="Try later.")]
    ledger = Ledger()
    end = await turn(repo, ScriptedModel(script), request("add b.txt"), MemorySteps(ledger))
    assert end.status is TurnStatus.FAILED
    assert end.reason == "The provider is overloaded. Try later."
    files = repo.commit_vfs("ai/x")
    assert not files.file_exists("b.txt")
    assert files.read_file("a.txt") == "hello\n"
    said = read_turn(files, end.turn)
    assert said.status is TurnStatus.FAILED
    assert any(isinstance(item, ToolResult) for item in said.items)
    assert isinstance(ledger.events[-1], TurnStopped)


@pytest.mark.req("G-06")
async def test_a_cancelled_turn_keeps_what_was_said_and_can_be_talked_on_after(repo: Repository) -> None:
    end = await turn(repo, ScriptedModel(WRITES), request("add b.txt"), MemorySteps(Ledger(), cancel="model 2"))
    assert end.status is TurnStatus.CANCELLED
    assert not repo.commit_vfs("ai/x").file_exists("b.txt")
    after = ScriptedModel(["I see that you stopped me."])
    await turn(repo, after, request("go on", "feedfeedfeed"))
    (prompt,) = after.prompts
    said = [message.text for message in prompt.messages if isinstance(message, UserMessage)]
    assert said == ["add b.txt", "go on"]
    called = {c.id for m in prompt.messages if isinstance(m, AssistantMessage) for c in m.calls}
    assert called == {m.call_id for m in prompt.messages if isinstance(m, ToolResult)}


@pytest.mark.req("G-17")
async def test_a_spending_limit_stops_the_turn(repo: Repository) -> None:
    model = ScriptedModel(WRITES)
    end = await turn(repo, model, request("add b.txt"), limits=CostLimits(day_usd=1.0), spent=Spent(day=1.5))
    assert end.status is TurnStatus.LIMITED
    assert "day" in end.reason
    assert model.calls == 0
    endless = ScriptedModel([Say("", (call("list_files"),))] * 50)
    end = await turn(repo, endless, request("go", "feedfeedfeed"), limits=CostLimits(requests_per_turn=4))
    assert (end.status, endless.calls) == (TurnStatus.LIMITED, 4)


async def test_a_model_that_repeats_a_failing_call_is_stopped(repo: Repository) -> None:
    model = ScriptedModel([Say("", (call("read_file", path="nowhere"),))] * 50)
    end = await turn(repo, model, request("go"))
    assert end.status is TurnStatus.FAILED
    assert "in vain" in end.reason
    assert model.calls == 5


async def test_a_model_that_repeats_itself_is_stopped_although_nothing_fails(repo: Repository) -> None:
    same = ScriptedModel([Say("", (call("list_files"),))] * 50)
    end = await turn(repo, same, request("go"))
    assert (end.status, same.calls) == (TurnStatus.FAILED, 12)
    assert end.reason == "The model repeats itself: list_files and 11 calls before it brought nothing new."
    both = [Say("", (call("list_files"),)), Say("", (call("read_file", path="a.txt"),))]
    cycle = ScriptedModel(both * 30)
    end = await turn(repo, cycle, request("go", "feedfeedfeed"))
    assert (end.status, cycle.calls) == (TurnStatus.FAILED, 36)


async def test_calls_that_bring_something_new_are_no_repetition(repo: Repository) -> None:
    steps = [Say("", (call("write_file", path=f"{n}.txt", content=f"{n}"), call("list_files"))) for n in range(30)]
    end = await turn(repo, ScriptedModel([*steps, "Done."]), request("go"))
    assert end.status is TurnStatus.DONE


STEPS = ["open", "model 1", "model 2", "tool 2.1", "model 3", "commit"]
COMMANDS = (
    Say("", (call("write_file", path="b.txt", content="one\n"),)),
    Say("", (call("run_command", command="echo ran >> ran.log; printf 'two\\n' >> b.txt"),)),
    Say("Done.\nCommit: Run it"),
)


@pytest.mark.req("X-04", "G-06")
@pytest.mark.parametrize("when", ["before", "ran", "recorded"])
@pytest.mark.parametrize("name", STEPS)
async def test_a_turn_killed_at_any_step_goes_on_and_ends_in_one_commit(
    repo: Repository, git: Git, name: str, when: str
) -> None:
    before = repo.refs.tip("ai/x")
    ledger = Ledger()
    asked = request("run it")
    first = ScriptedModel(COMMANDS, by_prompt=True)
    with pytest.raises(Killed):
        await turn(repo, first, asked, MemorySteps(ledger, kill=(when, name)))
    second = ScriptedModel(COMMANDS, by_prompt=True)
    end = await turn(repo, second, asked, MemorySteps(ledger))
    assert end.status is TurnStatus.DONE
    commits = list(repo.log("ai/x", exclude=[str(before)]))
    assert [commit.id for commit in commits] == [end.commit]
    files = repo.commit_vfs("ai/x")
    assert files.read_file("b.txt") == "one\ntwo\n"
    assert files.read_file("ran.log") == "ran\n"
    assert len(conversation(files)) == 1
    # What was answered and recorded is never asked again.
    answered = 0 if not name.startswith("model") or when != "ran" else 1
    assert first.calls + second.calls == 3 + answered
    assert reservation(repo.common_dir, "ai/x") is None
    assert not [ref for ref in git(repo.git_dir, "for-each-ref", "refs/forge/turns").splitlines() if ref]
    git(repo.git_dir, "fsck", "--full", "--strict")


@pytest.mark.req("G-09", "G-10", "X-04")
async def test_a_branch_moved_from_outside_keeps_the_work_on_a_branch_beside_it(repo: Repository, git: Git) -> None:
    def meanwhile(_: object) -> Say:
        tree = git(repo.git_dir, "rev-parse", "ai/x^{tree}")
        git(
            repo.git_dir,
            "update-ref",
            "refs/heads/ai/x",
            git(repo.git_dir, "commit-tree", tree, "-p", "ai/x", "-m", "outside"),
        )
        return WRITES[2]

    ledger = Ledger()
    end = await turn(repo, ScriptedModel([WRITES[0], meanwhile]), request("add b.txt"), MemorySteps(ledger))
    assert end.set_aside == "ai/x-turn-0badcafe0bad"
    assert repo.commit(repo.resolve("ai/x")).subject == "outside"
    assert repo.commit_vfs(end.set_aside).read_file("b.txt") == "new\n"
    assert isinstance(ledger.events[-1], TurnSetAside)
    assert reservation(repo.common_dir, "ai/x") is None


@pytest.mark.req("G-10")
async def test_people_cannot_save_on_the_branch_during_a_turn(repo: Repository) -> None:
    def meanwhile(_: object) -> Say:
        other = Repository.open(repo.git_dir)
        files = other.workspace("ai/x")
        files.write_file("a.txt", "mine\n")
        with pytest.raises(BranchBusy, match="scripted is at work on ai/x"):
            files.commit("edit: a.txt")
        with pytest.raises(BranchBusy):
            other.delete_branch("ai/x")
        elsewhere = other.workspace("main")
        elsewhere.write_file("free.txt", "yes\n")
        elsewhere.commit("edit: free.txt")
        return WRITES[2]

    end = await turn(repo, ScriptedModel([WRITES[0], meanwhile]), request("add b.txt"))
    assert (end.status, end.set_aside) == (TurnStatus.DONE, None)
    files = repo.workspace("ai/x")
    files.write_file("a.txt", "mine\n")
    files.commit("edit: a.txt")


@pytest.mark.req("G-10")
async def test_a_branch_has_at_most_one_turn(repo: Repository) -> None:
    ledger = Ledger()
    with pytest.raises(Killed):
        await turn(repo, ScriptedModel(WRITES), request("first"), MemorySteps(ledger, kill=("recorded", "open")))
    with pytest.raises(BranchBusy):
        await turn(repo, ScriptedModel(["x"]), request("second", "feedfeedfeed"))
    await turn(repo, ScriptedModel(WRITES), request("first"), MemorySteps(ledger))
    await turn(repo, ScriptedModel(["x"]), request("second", "feedfeedfeed"))
    assert [each.asked for each in conversation(repo.commit_vfs("ai/x"))] == ["first", "second"]


KEY = "sk-ant-api03-Zx81kQ0vYb77LmNopQr5sTuVwXyZ0123456789"


@pytest.mark.req("X-06", "G-07")
async def test_no_secret_is_sent_or_kept(repo: Repository, git: Git) -> None:
    files = repo.workspace("ai/x")
    files.write_file("AGENTS.md", f"Use {KEY} for tests.\n")
    files.write_file("config.py", f'KEY = "{KEY}"\nNAME = "x"\n')
    files.commit("a secret in files, as people do it")
    script = [
        Say(f"I read {KEY}, really.\nAnd", (call("read_file", path="config.py"),)),
        Say("", (call("search_replace", path="config.py", search='KEY = "[redacted:anthropic-key]"', replace="KEY"),)),
        Say("", (call("search_replace", path="config.py", search='NAME = "x"', replace='NAME = "y"'),)),
        Say("Done.\nCommit: Rename it"),
    ]
    model = ScriptedModel(script)
    ledger = Ledger()
    end = await turn(
        repo,
        model,
        request(f"my key is {KEY} and my word is opensesame1"),
        MemorySteps(ledger),
        secrets=("opensesame1",),
    )
    for prompt in model.prompts:
        text = repr(prompt)
        assert KEY not in text
        assert "opensesame1" not in text
    assert repo.commit_vfs("ai/x").read_file("config.py") == f'KEY = "{KEY}"\nNAME = "y"\n'
    kept = git(repo.git_dir, "show", "-U0", str(end.commit), "--", ".forge")
    assert "my key is [redacted:anthropic-key]" in kept
    assert KEY not in kept
    assert "opensesame1" not in kept
    assert KEY not in repr(ledger.events)
    pieces = "".join(event.text for event in ledger.events if isinstance(event, TextStreamed))
    assert pieces.startswith("I read [redacted:anthropic-key], really.\nAnd")
    told = [event for event in ledger.events if isinstance(event, ToolEnded)]
    assert [event.failed for event in told] == [False, True, False]


@pytest.mark.req("G-13")
async def test_a_file_taken_into_context_is_shown_in_the_same_turn_and_the_next(repo: Repository) -> None:
    files = repo.workspace("ai/x")
    files.write_file("a.txt", "hello\n" * 50 + "the last line\n")
    files.commit("edit: a.txt")
    script = [Say("", (call("update_context", add=[{"path": "a.txt"}]),)), "I see it."]
    model = ScriptedModel(script)
    await turn(repo, model, request("look at a.txt"))
    assert "the last line" not in repr(model.prompts[0].messages)
    assert "the last line" in repr(model.prompts[1].messages)
    assert "Be kind." in repr(model.prompts[0].messages)
    second = ScriptedModel(["Still."])
    await turn(repo, second, request("and now?", "feedfeedfeed"))
    shared = model.prompts[1].messages
    assert second.prompts[0].messages[: len(shared)] == shared


@pytest.mark.req("G-14")
async def test_each_request_begins_with_the_one_before(repo: Repository) -> None:
    sent: list[str] = []
    for number in range(6):
        path = f"f{number}.txt"
        script = [
            Say(
                "",
                (
                    call("write_file", path=path, content=f"{number}\n" * 30),
                    call("update_context", add=[{"path": path}]),
                ),
            ),
            Say("", (call("read_file", path="nowhere"),)),
            Say(f"Done.\nCommit: Add {path}"),
        ]
        model = ScriptedModel(script)
        await turn(repo, model, request(f"add {path}", f"{number:012x}"))
        sent += [json.dumps([str(m) for m in prompt.messages])[:-1] for prompt in model.prompts]
    for before, after in pairwise(sent):
        assert after.startswith(before)


@pytest.mark.req("G-14", "C-08")
async def test_a_full_window_is_condensed_and_the_persons_words_stay(repo: Repository) -> None:
    window = 9_000
    long = "x" * 12_000
    for number in range(5):
        words = f"wish number {number}"
        model = ScriptedModel(
            [Say("", (call("write_file", path=f"big{number}.txt", content=long),)), "Done."], context_window=window
        )
        end = await turn(repo, model, request(words, f"{number:012x}"), window=window)
        assert end.status is TurnStatus.DONE
    last = repr(model.prompts[-1].messages)
    assert all(f"wish number {number}" in last for number in range(5))
    assert len(last) < window * 5
    assert len(conversation(repo.commit_vfs("ai/x"))) == 5


@pytest.mark.req("X-04", "G-09")
async def test_a_turn_whose_beginning_is_gone_for_good_keeps_its_words_and_files(repo: Repository, git: Git) -> None:
    """Holds are refs, and somebody may delete those as well."""
    files = repo.workspace("ai/x")
    files.write_file("own.txt", "own\n")
    files.commit("own")
    vfs = repo.workspace("ai/x")
    vfs.write_file("b.txt", "new\n")
    git(repo.git_dir, "branch", "-D", "ai/x")
    git(repo.git_dir, "reflog", "expire", "--expire=now", "--all")
    git(repo.git_dir, "gc", "--quiet", "--prune=now")
    repo.objects.let_go_of_packs()
    said = Turn(
        id=turn_id(1, "0badcafe0bad"), parent=None, started=1.0, model="m", items=(UserMessage("mine", "Ada", 1.0),)
    )
    for _ in range(2):  # a second time, it is found
        landed = land(Sessions(repo), vfs, said, author=repo.signature(), trailers={})
    assert landed.set_aside == "ai/x-turn-0badcafe0bad"
    kept = repo.commit_vfs(landed.set_aside)
    assert kept.read_file("b.txt") == "new\n"
    assert [each.asked for each in conversation(kept)] == ["mine"]
    assert repo.commit(landed.commit).parents == ()
    assert "has been removed from the repository" in repo.commit(landed.commit).message
    git(repo.git_dir, "fsck", "--full", "--strict")
