"""A conversation follows its branch alike, whether it is kept in the tree or on a ref beside the branch."""

from __future__ import annotations

import pytest

from forge.app.repositories import branches
from forge.app.sessions import context
from forge.app.sessions.conversation import fork_at, rewind_to
from forge.sessions.head import ActiveFile
from forge.sessions.marks import marks_of
from forge.sessions.places import Sessions
from tests.conftest import Git
from tests.sessions.talk import said, say

pytestmark = [pytest.mark.asyncio, pytest.mark.req("G-07", "G-08")]


async def test_a_fork_by_any_face_carries_it_and_goes_on_by_itself(sessions: Sessions) -> None:
    await say(sessions, "one")
    await say(sessions, "two", writes=False)
    branches.fork(sessions.repo, "ai/x", "ai/y")
    branches.create(sessions.repo, "ai/z", "ai/x")
    fork_at(sessions, "ai/x", "1", "ai/w")
    assert [said(sessions, name) for name in ("ai/y", "ai/z", "ai/w")] == [["one", "two"], ["one", "two"], ["one"]]
    model = await say(sessions, "three", "ai/y")
    assert "two" in str(model.prompts[0].messages)
    assert said(sessions, "ai/y") == ["one", "two", "three"]
    assert said(sessions, "ai/x") == ["one", "two"]


async def test_a_fork_by_plain_git_carries_it(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one")
    git(sessions.repo.git_dir, "branch", "ai/y", "ai/x")
    assert said(sessions, "ai/y") == ["one"]
    await say(sessions, "two", "ai/y")
    assert (said(sessions, "ai/x"), said(sessions, "ai/y")) == (["one"], ["one", "two"])


async def test_a_rename_moves_it(sessions: Sessions) -> None:
    await say(sessions, "one")
    context.add(sessions, "ai/x", [ActiveFile("a.txt")])
    branches.rename(sessions.repo, "ai/x", "ai/x/new")
    assert said(sessions, "ai/x/new") == ["one"]
    assert marks_of(sessions.repo.common_dir, "ai/x/new")
    await say(sessions, "two", "ai/x/new")
    assert said(sessions, "ai/x/new") == ["one", "two"]
    assert sessions.repo.refs.target("refs/forge/sessions/ai/x") is None


async def test_a_rewind_takes_it_back_and_an_undo_brings_it_again(sessions: Sessions) -> None:
    for text in ("one", "two", "three"):
        await say(sessions, text)
    branches.rewind(sessions.repo, "ai/x", "ai/x~2")
    assert said(sessions) == ["one"]
    sessions.repo.undo()
    assert said(sessions) == ["one", "two", "three"]
    rewind_to(sessions, "ai/x", "2")
    assert said(sessions) == ["one", "two"]
    model = await say(sessions, "four")
    assert "three" not in str(model.prompts[0].messages)
    assert said(sessions) == ["one", "two", "four"]


async def test_a_reset_by_plain_git_takes_it_back(sessions: Sessions, git: Git) -> None:
    for text in ("one", "two"):
        await say(sessions, text)
    git(sessions.repo.git_dir, "branch", "-f", "ai/x", "ai/x~1")
    assert said(sessions) == ["one"]
    model = await say(sessions, "three")
    assert "two" not in str(model.prompts[0].messages)
    assert said(sessions) == ["one", "three"]


async def test_a_new_branch_of_a_deleted_name_begins_anew(sessions: Sessions) -> None:
    await say(sessions, "secret plan")
    await say(sessions, "more of it", writes=False)
    context.add(sessions, "ai/x", [ActiveFile("a.txt")])
    branches.delete(sessions.repo, "ai/x")
    branches.create(sessions.repo, "ai/x", "main")
    assert said(sessions) == []
    assert not context.active_files(sessions, "ai/x")
    model = await say(sessions, "hello")
    assert "secret plan" not in str(model.prompts[0].messages)
    assert said(sessions) == ["hello"]


async def test_undoing_a_deletion_brings_it_back(sessions: Sessions) -> None:
    await say(sessions, "one")
    branches.delete(sessions.repo, "ai/x")
    sessions.repo.undo()
    assert said(sessions) == ["one"]


async def test_a_rename_by_plain_git_moves_it(sessions: Sessions, git: Git) -> None:
    await say(sessions, "one")
    await say(sessions, "two", writes=False)
    git(sessions.repo.git_dir, "branch", "-m", "ai/x", "ai/y")
    git(sessions.repo.git_dir, "branch", "ai/x", "main")
    assert said(sessions, "ai/y") == ["one", "two"]
    assert said(sessions, "ai/x") == []
    await say(sessions, "three", "ai/y")
    assert said(sessions, "ai/y") == ["one", "two", "three"]


async def test_talk_alone_follows_forks_renames_rewinds_and_undo(sessions: Sessions) -> None:
    await say(sessions, "one", writes=False)
    await say(sessions, "two", writes=False)
    branches.fork(sessions.repo, "ai/x", "ai/y")
    branches.rename(sessions.repo, "ai/x", "ai/z")
    assert [said(sessions, name) for name in ("ai/y", "ai/z")] == [["one", "two"], ["one", "two"]]
    sessions.repo.undo()
    assert said(sessions) == ["one", "two"]
    rewind_to(sessions, "ai/x", "1")
    assert said(sessions) == ["one"]
    sessions.repo.undo()
    assert said(sessions) == ["one", "two"]
    branches.delete(sessions.repo, "ai/x")
    sessions.repo.undo()
    assert said(sessions) == ["one", "two"]


@pytest.mark.parametrize("writes", [True, False])
async def test_a_new_branch_of_a_name_that_plain_git_deleted_begins_anew(
    sessions: Sessions, git: Git, writes: bool
) -> None:
    await say(sessions, "secret plan", writes=writes)
    git(sessions.repo.git_dir, "branch", "-D", "ai/x")
    git(sessions.repo.git_dir, "branch", "ai/x", "main")
    assert said(sessions) == []
    model = await say(sessions, "hello")
    assert "secret plan" not in str(model.prompts[0].messages)
    assert said(sessions) == ["hello"]
