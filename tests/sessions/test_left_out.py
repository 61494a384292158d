"""A rebase, a cherry-pick and an export bring of a conversation what the person says; the result is what was shown."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count

import pytest

from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.repositories.merges import Conversation, MergeKind, MergeOrder, previewed, view_of, with_terms
from forge.errors import InvalidInput
from forge.git import Repository
from forge.sessions.conversation import conversation
from tests.conftest import Git, MakeRepo
from tests.support.turns import request, turn

pytestmark = pytest.mark.req("G-06", "G-07")
_MARKS = count(1)
ALL: tuple[Conversation, ...] = ("keep", "squash", "drop")
TOLD = {
    "keep": "conversation of 3 turns, 4 files in .forge/",
    "squash": "summary of a conversation, 1 file in .forge/",
    "drop": "None",
}


def say(repo: Repository, text: str, branch: str = "ai/x", *, writes: bool = True) -> None:
    number = next(_MARKS)
    write = call("write_file", path=f"{text}.txt", content=f"{text}\n")
    model = ScriptedModel([Say("", (write,)), f"Done.\nCommit: Add {text}"] if writes else ["Only talk."])
    asyncio.run(turn(repo, model, request(text, f"{number:012x}", branch)))


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    say(repo, "one")
    say(repo, "two", writes=False)
    say(repo, "three")
    repo.create_branch("feature", "main")
    for branch in ("feature", "main"):
        work = repo.workspace(branch)
        work.write_file(f"{branch}.txt", "own\n")
        work.commit(f"work on {branch}")
    return repo


def ours(repo: Repository, git: Git, rev: str) -> list[str]:
    return git(repo.git_dir, "ls-tree", "-r", "--name-only", rev, "--", ".forge").splitlines()


def done(repo: Repository, git: Git, order: MergeOrder) -> str:
    """Perform it, check that the branch is what the preview showed, and give what it told of the conversation."""
    order = with_terms(repo, order)
    preview = previewed(repo, order)
    view = view_of(repo, preview, order.conversation)
    assert view.conversation_choice == order.conversation
    assert not any(file.path.startswith(".forge/") for file in view.files)
    had = ours(repo, git, order.target)
    assert repo.perform(preview) is not None
    assert git(repo.git_dir, "rev-parse", f"{order.target}^{{tree}}") == preview.tree
    assert git(repo.git_dir, "rev-parse", order.target) == preview.result
    has = ours(repo, git, order.target)
    assert len(set(has) - set(had)) == (view.conversation.files if view.conversation else 0)
    assert len(set(had) - set(has)) == (view.conversation_removed.files if view.conversation_removed else 0)
    git(repo.git_dir, "fsck", "--full", "--strict")
    return str(view.conversation)


def said(repo: Repository, branch: str) -> list[str]:
    return [turn.asked for turn in conversation(Repository.open(repo.git_dir).commit_vfs(branch))]


@pytest.mark.parametrize("terms", ALL)
def test_commits_are_copied_with_or_without_what_was_said(repo: Repository, git: Git, terms: Conversation) -> None:
    picked = ("ai/x~2", "ai/x~1", "ai/x")
    assert done(repo, git, MergeOrder(MergeKind.CHERRY_PICK, "feature", picked, conversation=terms)) == TOLD[terms]
    assert git(repo.git_dir, "show", "feature:three.txt") == "three"
    subjects = git(repo.git_dir, "log", "--format=%s", "main~1..feature").splitlines()
    assert len(subjects) == (4 if terms == "keep" else 3), "a commit of talk alone is left out with the talk"
    assert said(repo, "feature") == (["one", "two", "three"] if terms == "keep" else [])


@pytest.mark.parametrize("terms", ALL)
def test_a_rebased_branch_keeps_or_leaves_what_was_said(repo: Repository, git: Git, terms: Conversation) -> None:
    told = done(repo, git, MergeOrder(MergeKind.REBASE, "ai/x", ("main",), conversation=terms))
    assert told == ("None" if terms == "keep" else TOLD[terms]), "the branch has its turns already"
    assert git(repo.git_dir, "show", "ai/x:three.txt") == "three"
    assert len(ours(repo, git, "ai/x")) == {"keep": 4, "squash": 1, "drop": 0}[terms]
    assert said(repo, "ai/x") == ([] if terms == "drop" else ["one", "two", "three"])
    if terms == "drop":
        assert git(repo.git_dir, "log", "--format=%h", "main..ai/x", "--", ".forge") == ""


@pytest.mark.parametrize("terms", ["squash", "drop"])
def test_a_branch_that_begins_there_already_can_still_lose_it(repo: Repository, git: Git, terms: Conversation) -> None:
    base = repo.resolve("main~1")
    done(repo, git, MergeOrder(MergeKind.REBASE, "ai/x", (base,), conversation=terms))
    assert len(ours(repo, git, "ai/x")) == (terms == "squash")
    assert git(repo.git_dir, "merge-base", "ai/x", base) == base


def test_a_default_branch_gets_what_is_set_by_every_way(repo: Repository, git: Git) -> None:
    start = repo.resolve("main")
    assert done(repo, git, MergeOrder(MergeKind.CHERRY_PICK, "main", ("ai/x~2", "ai/x"))) == TOLD["squash"]
    repo.rewind_branch("main", start)
    assert done(repo, git, MergeOrder(MergeKind.MERGE, "main", ("ai/x",))) == TOLD["squash"]
    repo.rewind_branch("main", repo.resolve("ai/x~3"))
    assert done(repo, git, MergeOrder(MergeKind.REBASE, "main", ("ai/x",))) == TOLD["squash"]
    assert git(repo.git_dir, "show", "main:three.txt") == "three"
    repo.rewind_branch("main", repo.resolve("ai/x~3"))
    order = MergeOrder(MergeKind.REBASE, "main", ("ai/x",))
    assert previewed(repo, with_terms(repo, order, "keep")).result == repo.resolve("ai/x")
    assert done(repo, git, replace(order, conversation="keep")) == TOLD["keep"]


def test_a_rebase_that_cannot_leave_it_out_says_so(repo: Repository) -> None:
    base = repo.resolve("ai/x~3")
    repo.perform(repo.preview_merge("feature", "ai/x"))
    repo.rewind_branch("main", base)
    with pytest.raises(InvalidInput, match="has merges"):
        previewed(repo, MergeOrder(MergeKind.REBASE, "main", ("ai/x",)))


def test_conflicts_are_resolved_and_it_is_left_out_all_the_same(repo: Repository, git: Git) -> None:
    work = repo.workspace("feature")
    work.write_file("one.txt", "mine\n")
    work.commit("mine")
    order = MergeOrder(MergeKind.CHERRY_PICK, "feature", ("ai/x~2", "ai/x"), conversation="drop")
    preview = previewed(repo, order)
    assert [conflict.path for conflict in preview.conflicts] == ["one.txt"]
    settled = preview.resolved(repo.objects, {"one.txt": "both\n"})
    repo.perform(settled)
    assert git(repo.git_dir, "show", "feature:one.txt") == "both"
    assert ours(repo, git, "feature") == []


def test_where_nobody_talked_there_is_nothing_to_choose(repo: Repository) -> None:
    order = with_terms(repo, MergeOrder(MergeKind.MERGE, "main", ("feature",)))
    assert view_of(repo, previewed(repo, order), order.conversation).conversation_choice is None


@pytest.mark.parametrize("terms", ["squash", "drop"])
def test_only_the_conversation_is_left_out_not_what_else_forge_keeps(
    repo: Repository, git: Git, terms: Conversation
) -> None:
    work = repo.workspace("ai/x")
    work.write_record(".forge/approved_tools.json", b"{}\n")
    work.commit("tools: approve")
    repo.perform(previewed(repo, MergeOrder(MergeKind.MERGE, "main", ("ai/x",), conversation=terms)))
    assert ".forge/approved_tools.json" in ours(repo, git, "main")
