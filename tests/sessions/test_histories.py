"""What plain git does to agent branches, and what their conversations are afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.git import Repository, Signature
from forge.sessions.conversation import conversation, read_head, write_turn
from forge.sessions.layout import HEAD_PATH
from forge.sessions.messages import UserMessage
from forge.sessions.turns import Turn, turn_id
from tests.conftest import Git, MakeRepo
from tests.sessions.messages import say
from tests.support.soak.histories import random_histories, write_first_format
from tests.support.soak.side_histories import random_side_histories


@pytest.mark.req("G-07", "G-08")
def test_random_histories_by_plain_git_keep_every_conversation(home: Path, tmp_path: Path) -> None:
    found = random_histories(tmp_path, 8, seed=18, steps=25)
    assert found.histories == 8


@pytest.mark.req("G-07", "G-08")
def test_random_histories_keep_every_conversation_beside_its_branch(home: Path, tmp_path: Path) -> None:
    found = random_side_histories(tmp_path, 6, seed=41, steps=20)
    assert found.histories == 6


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    for name in ("ai/x", "ai/y"):
        repo.create_branch(name, "main")
    return repo


def said(repo: Repository, branch: str) -> list[str]:
    return [turn.asked for turn in conversation(Repository.open(repo.git_dir).commit_vfs(branch))]


def on(repo: Repository, git: Git, branch: str, *args: str) -> None:
    assert repo.work_tree is not None
    git(repo.work_tree, "checkout", "-q", branch)
    git(repo.work_tree, *args)
    git(repo.work_tree, "checkout", "-q", "--detach")


def agent_says(repo: Repository, branch: str, text: str) -> None:
    """With an author of its own, as an agent has: git makes another committer of whoever replays it."""
    vfs = repo.workspace(branch)
    head = read_head(vfs)
    turn = Turn(turn_id(head.turns + 1, "0badcafe"), head.last, 1.0, "scripted", (UserMessage(text, "A", 1.0),))
    write_turn(vfs, turn)
    vfs.commit("chat", Signature("Forge", "agent@forge.invalid", 1_700_000_000), {"Forge-Turn": turn.id})


@pytest.mark.req("G-08")
@pytest.mark.parametrize("name", ["ai/x", "renamed"])
def test_turns_whose_commits_are_put_in_another_order_stay_in_theirs(repo: Repository, git: Git, name: str) -> None:
    for text in ("one", "two", "three"):
        agent_says(repo, "ai/x", text)
    git(repo.git_dir, "branch", "-m", "ai/x", name)
    on(repo, git, name, "-c", "sequence.editor=sed -i '2{h;d};3{G}'", "rebase", "-q", "-i", "HEAD~3")
    assert said(repo, name) == ["one", "two", "three"]


@pytest.mark.req("G-08")
@pytest.mark.parametrize("way", ["branch", "branch -m"])
def test_a_fork_and_a_renamed_branch_keep_their_conversation_when_rebased_onto_another_agents(
    repo: Repository, git: Git, way: str
) -> None:
    for branch in ("ai/x", "ai/y"):
        agent_says(repo, branch, branch)
    git(repo.git_dir, *way.split(), *(["ai/x", "new"] if way.endswith("-m") else ["new", "ai/x"]))
    on(repo, git, "new", "rebase", "-q", "ai/y")
    assert said(repo, "new") == ["ai/x"]


@pytest.mark.req("G-07")
def test_a_branch_keeps_its_own_where_its_fork_was_merged_before_it(repo: Repository, git: Git) -> None:
    say(repo, "ai/x", "common", "aaaaaaaa")
    git(repo.git_dir, "branch", "ai/fork", "ai/x")
    say(repo, "ai/fork", "fork", "bbbbbbbb")
    say(repo, "ai/x", "own", "cccccccc")
    on(repo, git, "ai/y", "merge", "-q", "--no-ff", "-m", "one", "ai/fork")
    on(repo, git, "ai/y", "merge", "-q", "-m", "two", "ai/x")
    on(repo, git, "ai/x", "merge", "-q", "--ff-only", "ai/y")
    assert said(repo, "ai/x") == ["common", "own"]
    assert said(repo, "ai/y") == ["common", "fork"]


@pytest.mark.req("G-07")
def test_a_merge_brings_the_conversation_whose_files_are_there_already(repo: Repository, git: Git) -> None:
    say(repo, "ai/x", "x", "aaaaaaaa")
    say(repo, "ai/y", "y", "bbbbbbbb")
    on(repo, git, "main", "commit", "-q", "--allow-empty", "-m", "on")
    on(repo, git, "main", "cherry-pick", "ai/x")
    on(repo, git, "main", "cherry-pick", "ai/y")
    on(repo, git, "main", "revert", "--no-edit", "HEAD")
    assert said(repo, "main") == []
    on(repo, git, "main", "merge", "-q", "-m", "back", "ai/x")
    assert said(repo, "main") == ["x"]


@pytest.mark.req("G-07")
@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_either_side_of_a_conflict_between_branches_of_the_first_format_will_do(
    repo: Repository, git: Git, side: str
) -> None:
    assert repo.work_tree is not None
    for number, branch in enumerate(("ai/x", "ai/y", "ai/x")):
        vfs = repo.workspace(branch)
        head = read_head(vfs)
        items = (UserMessage(f"{branch} {number}", "A <a@example.org>", 1.0),)
        turn = Turn(turn_id(head.turns + 1, f"{number:08x}"), head.last, float(number), "scripted", items)
        write_first_format(vfs, turn, head.messages + 1)
        vfs.commit("chat", trailers={"Forge-Turn": turn.id})
    git(repo.work_tree, "checkout", "-q", "ai/x")
    with pytest.raises(AssertionError, match="merge"):
        git(repo.work_tree, "merge", "-q", "ai/y")
    assert git(repo.work_tree, "diff", "--name-only", "--diff-filter=U") == HEAD_PATH
    git(repo.work_tree, "checkout", side, "--", HEAD_PATH)
    git(repo.work_tree, "commit", "-q", "-a", "-m", "either")
    git(repo.work_tree, "checkout", "-q", "--detach")
    head = read_head(Repository.open(repo.git_dir).commit_vfs("ai/x"))
    assert (head.turns, head.messages) == (2, 2)
    say(repo, "ai/x", "on", "cccccccc")
    assert said(repo, "ai/x") == ["ai/x 0", "ai/x 2", "on"]


@pytest.mark.req("G-07")
def test_git_takes_no_turn_for_another_that_was_moved(make_repo: MakeRepo, git: Git) -> None:
    """Else it reports a conflict where both sides of a merge have lost the one that it takes for the origin."""
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/y", "main")
    say(repo, "ai/y", "do it", "bbbbbbbb")
    for number in range(30):
        repo.create_branch(f"ai/{number}", "main")
        say(repo, f"ai/{number}", "do it", f"{number:08x}")
        found = git(repo.git_dir, "diff", "-M", "--name-status", "ai/y", f"ai/{number}", "--", ".forge/session")
        assert sorted(line[0] for line in found.splitlines()) == ["A", "D"], found
