"""What plain git does to a branch, and its conversation afterwards, in the tree and on a ref beside the branch."""

from __future__ import annotations

import pytest

from forge.app.repositories import branches
from forge.git import Repository
from forge.sessions.places import Sessions
from tests.conftest import Git
from tests.sessions.talk import said, say

pytestmark = [pytest.mark.asyncio, pytest.mark.req("G-07", "G-08")]


@pytest.mark.parametrize("way", ["rebase", "amend"])
async def test_a_rebase_by_plain_git_keeps_it_with_the_turns_that_only_talked(
    sessions: Sessions, git: Git, way: str
) -> None:
    await say(sessions, "one")
    for text in ("two", "three"):
        await say(sessions, text, writes=False)
    place = sessions.repo.work_tree
    assert place is not None
    git(place, "commit", "-q", "--allow-empty", "-m", "main moves on")
    git(place, "checkout", "-q", "ai/x")
    git(
        place,
        *(
            ("rebase", "-q", "main")
            if way == "rebase"
            else ("commit", "-q", "--amend", "--allow-empty", "--no-edit", "--date=now")
        ),
    )
    git(place, "checkout", "-q", "main")
    assert said(sessions) == ["one", "two", "three"]
    await say(sessions, "four", writes=False)
    assert said(sessions) == ["one", "two", "three", "four"]


@pytest.mark.parametrize("way", ["delete", "rename", "rewind"])
async def test_what_git_renamed_forge_deletes_renames_and_rewinds_with_it(
    sessions: Sessions, git: Git, way: str
) -> None:
    await say(sessions, "one")
    await say(sessions, "two")
    await say(sessions, "three", writes=False)
    git(sessions.repo.git_dir, "branch", "-m", "ai/x", "ai/y")
    if way == "delete":
        branches.delete(sessions.repo, "ai/y")
        sessions.repo.undo()
        assert said(sessions, "ai/y") == ["one", "two", "three"]
    elif way == "rename":
        branches.rename(sessions.repo, "ai/y", "ai/z")
        assert said(sessions, "ai/z") == ["one", "two", "three"]
    else:
        branches.rewind(sessions.repo, "ai/y", "ai/y~1" if sessions.beside else "ai/y~2")
        assert said(sessions, "ai/y") == ["one"]
        sessions.repo.undo()
        assert said(sessions, "ai/y") == ["one", "two", "three"]
    branches.create(sessions.repo, "ai/x", "main")
    assert said(sessions, "ai/x") == []


async def test_a_rebase_onto_the_merge_that_has_the_branch_keeps_it(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one")
    await say(sessions, "two", writes=False)
    place = sessions.repo.work_tree
    assert place is not None
    git(place, "merge", "-q", "--no-ff", "-m", "merge", "ai/x")
    git(place, "checkout", "-q", "ai/x")
    git(place, "rebase", "-q", "main")
    git(place, "checkout", "-q", "main")
    assert said(sessions) == ["one", "two"]
    await say(sessions, "three", writes=False)
    assert said(sessions) == ["one", "two", "three"]
    git(place, "branch", "-q", "-f", "ai/x", "main~1")
    assert said(sessions) == []


@pytest.mark.parametrize("way", ["delete", "make anew", "make anew by git", "rewind"])
async def test_a_fork_by_plain_git_keeps_it_whatever_becomes_of_the_first_branch(
    sessions: Sessions, git: Git, way: str
) -> None:
    await say(sessions, "one")
    await say(sessions, "two")
    repo = sessions.repo
    git(repo.git_dir, "branch", "ai/y", "ai/x")
    if way.endswith("by git"):
        git(repo.git_dir, "branch", "-D", "ai/x")
        git(repo.git_dir, "branch", "ai/x", "main")
        await say(sessions, "another", writes=False)
        assert said(sessions) == ["another"]
    elif way == "rewind":
        branches.rewind(repo, "ai/x", "ai/x~2")
        assert said(sessions) == []
    else:
        branches.delete(repo, "ai/x")
    if way == "make anew":
        branches.create(repo, "ai/x", "main")
        assert said(sessions) == []
    assert said(sessions, "ai/y") == ["one", "two"]
    await say(sessions, "three", "ai/y", writes=False)
    assert said(sessions, "ai/y") == ["one", "two", "three"]


@pytest.mark.parametrize("name", ["ai/x", "ai/fork"])
async def test_a_rebase_onto_the_squash_that_has_the_branch_keeps_it(sessions: Sessions, git: Git, name: str) -> None:
    await say(sessions, "one")
    place = sessions.repo.work_tree
    assert place is not None
    if name == "ai/fork":
        git(place, "branch", name, "ai/x")
    git(place, "commit", "-q", "--allow-empty", "-m", "main moves on")
    git(place, "merge", "-q", "--squash", name)
    git(place, "commit", "-q", "-m", "squash")
    git(place, "checkout", "-q", name)
    git(place, "rebase", "-q", "main")
    git(place, "checkout", "-q", "main")
    assert git(place, "rev-parse", name) == git(place, "rev-parse", "main")
    assert said(sessions, name) == ["one"]
    branches.rename(sessions.repo, name, "ai/later")
    branches.delete(sessions.repo, "ai/later")
    sessions.repo.undo()
    assert said(sessions, "ai/later") == ["one"]
    await say(sessions, "two", "ai/later", writes=False)
    assert said(sessions, "ai/later") == ["one", "two"]
    git(place, "branch", "-q", "-f", "ai/later", "main~2")
    assert said(sessions, "ai/later") == []


@pytest.mark.parametrize("way", ["rename", "delete and undo", "rewind"])
async def test_what_a_deleted_branch_said_does_not_come_back_with_what_forge_does_to_a_new_one(
    sessions: Sessions, git: Git, way: str
) -> None:
    await say(sessions, "secret plan")
    git(sessions.repo.git_dir, "branch", "-D", "ai/x")
    git(sessions.repo.git_dir, "branch", "ai/x", "main")
    name = "ai/x"
    if way == "rename":
        name = "ai/new"
        branches.rename(sessions.repo, "ai/x", name)
    elif way == "rewind":
        branches.rewind(sessions.repo, name, "main")
    else:
        branches.delete(sessions.repo, name)
        sessions.repo.undo()
    assert said(sessions, name) == []
    model = await say(sessions, "hello", name)
    assert "secret plan" not in str(model.prompts[0].messages)


async def test_a_branch_that_is_set_back_and_forth_says_what_it_said_there(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one")
    first = sessions.repo.refs.tip("ai/x")
    assert first is not None
    git(sessions.repo.git_dir, "branch", "-f", "ai/x", "main")
    await say(sessions, "instead")
    assert said(sessions) == ["instead"]
    git(sessions.repo.git_dir, "branch", "-f", "ai/x", first)
    assert said(sessions) == ["one"]
    await say(sessions, "two")
    assert said(sessions) == ["one", "two"]


async def test_gc_takes_nothing_that_an_undo_brings_back(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one")
    await say(sessions, "two", writes=False)
    branches.delete(sessions.repo, "ai/x")
    git(sessions.repo.git_dir, "reflog", "expire", "--expire=now", "--all")
    git(sessions.repo.git_dir, "gc", "-q", "--prune=now")
    Repository.open(sessions.repo.git_dir).undo()
    assert said(sessions) == ["one", "two"]


@pytest.mark.parametrize("way", ["rename", "delete and undo"])
async def test_what_git_took_back_does_not_come_back_with_what_forge_does_to_the_branch(
    sessions: Sessions, git: Git, way: str
) -> None:
    await say(sessions, "one")
    git(sessions.repo.git_dir, "branch", "-f", "ai/x", "main")
    assert said(sessions) == []
    name = "ai/x"
    if way == "rename":
        name = "ai/new"
        branches.rename(sessions.repo, "ai/x", name)
    else:
        branches.delete(sessions.repo, name)
        sessions.repo.undo()
    assert said(sessions, name) == []


async def test_a_rebase_keeps_what_was_only_talked_on_a_commit_of_ones_own(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one", writes=False)
    place = sessions.repo.work_tree
    assert place is not None
    git(place, "checkout", "-q", "ai/x")
    git(place, "commit", "-q", "--allow-empty", "-m", "my own")
    git(place, "checkout", "-q", "main")
    await say(sessions, "two", writes=False)
    git(place, "commit", "-q", "--allow-empty", "-m", "main moves on")
    git(place, "checkout", "-q", "ai/x")
    git(place, "rebase", "-q", "main")
    git(place, "checkout", "-q", "main")
    assert said(sessions) == ["one", "two"]


async def test_a_turn_that_an_interactive_rebase_drops_is_gone(sessions: Sessions, git: Git) -> None:
    for text in ("one", "two"):
        await say(sessions, text)
    place = sessions.repo.work_tree
    assert place is not None
    git(place, "checkout", "-q", "ai/x")
    git(place, "-c", "sequence.editor=sed -i 2d", "rebase", "-q", "-i", "HEAD~2")
    git(place, "checkout", "-q", "main")
    assert said(sessions) == ["one"]


async def test_a_rebase_onto_a_squash_that_was_merged_already_keeps_it(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one")
    place = sessions.repo.work_tree
    assert place is not None
    git(place, "merge", "-q", "--squash", "ai/x")
    git(place, "commit", "-q", "-m", "squash")
    git(place, "checkout", "-q", "ai/x")
    git(place, "merge", "-q", "-m", "merge", "main")
    git(place, "rebase", "-q", "main")
    git(place, "checkout", "-q", "main")
    assert git(place, "rev-parse", "ai/x") == git(place, "rev-parse", "main")
    assert said(sessions) == ["one"]
