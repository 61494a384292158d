"""What a merge through Forge brings of a conversation: every turn, a summary, or nothing."""

from __future__ import annotations

import pytest

from forge.app.repositories.merges import Conversation, MergeKind, MergeOrder, brought_along, previewed, view_of
from forge.git import Repository
from forge.sessions.conversation import conversation
from tests.conftest import Git, MakeRepo
from tests.sessions.messages import say

pytestmark = pytest.mark.req("G-07")


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    for number in range(5):
        say(repo, "ai/x", f"turn {number}", f"{number:08x}")
    work = repo.workspace("ai/x")
    work.write_file("work.txt", "work\n")
    work.commit("work")
    return repo


def merged(repo: Repository, terms: Conversation | None = None, *, into: str = "main") -> str:
    preview = previewed(repo, MergeOrder(MergeKind.MERGE, into, ("ai/x",), conversation=terms))
    assert [file.path for file in view_of(repo, preview).files] == ["work.txt"]
    repo.perform(preview)
    return str(brought_along(preview))


def said(repo: Repository, branch: str) -> list[str]:
    return [turn.asked for turn in conversation(Repository.open(repo.git_dir).commit_vfs(branch))]


def ours(repo: Repository, git: Git, rev: str = "main") -> list[str]:
    return git(repo.git_dir, "ls-tree", "-r", "--name-only", rev, "--", ".forge").splitlines()


ALL = [f"turn {number}" for number in range(5)]


def test_a_default_branch_gets_one_short_summary(repo: Repository, git: Git) -> None:
    assert merged(repo) == "summary of a conversation, 1 file in .forge/"
    (path,) = ours(repo, git)
    assert git(repo.git_dir, "show", f"main:{path}").count("\n") < 30
    assert git(repo.git_dir, "merge-base", "--is-ancestor", "ai/x", "main") == ""
    assert (said(repo, "main"), said(repo, "ai/x")) == ([], ALL)
    repo.create_branch("ai/new", "main")
    assert said(repo, "ai/new") == []


@pytest.mark.parametrize(("terms", "told", "files"), [("keep", "conversation of 5 turns, 6 files", 6), ("drop", "", 0)])
def test_the_person_may_say_otherwise(repo: Repository, git: Git, terms: Conversation, told: str, files: int) -> None:
    assert merged(repo, terms) == (f"{told} in .forge/" if told else "None")
    assert len(ours(repo, git)) == files


def test_another_branch_gets_every_turn(repo: Repository, git: Git) -> None:
    repo.create_branch("feature", "main")
    assert merged(repo, into="feature") == "conversation of 5 turns, 6 files in .forge/"
    assert said(repo, "feature") == ALL


@pytest.mark.parametrize("terms", ["squash", "drop"])
def test_plain_git_may_merge_the_default_branch_back(repo: Repository, git: Git, terms: Conversation) -> None:
    merged(repo, terms)
    assert repo.work_tree is not None
    say(repo, "ai/x", "later", "aaaaaaaa")
    git(repo.work_tree, "checkout", "-q", "ai/x")
    git(repo.work_tree, "merge", "-q", "--no-edit", "main")
    git(repo.work_tree, "commit", "-q", "--allow-empty", "-m", "on")
    assert said(repo, "ai/x") == [*ALL, "later"]
    git(repo.work_tree, "checkout", "-q", "main")
    say(repo, "ai/x", "and on", "bbbbbbbb")
    assert said(repo, "ai/x") == [*ALL, "later", "and on"]


@pytest.mark.parametrize("talk", [True, False])
def test_a_branch_that_is_rebased_onto_the_summary_finds_its_conversation(
    repo: Repository, git: Git, talk: bool
) -> None:
    merged(repo)
    assert repo.work_tree is not None
    if talk:
        say(repo, "ai/x", "later", "aaaaaaaa")
    git(repo.work_tree, "checkout", "-q", "ai/x")
    git(repo.work_tree, "rebase", "-q", "main")
    git(repo.work_tree, "checkout", "-q", "main")
    assert said(repo, "ai/x") == ALL + ["later"] * talk
