"""What plain git does to agent branches, and what their conversations are afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.soak.histories import random_histories
from forge.git import Repository
from tests.conftest import Git, MakeRepo
from tests.sessions.test_sessions import say


@pytest.mark.req("G-07", "G-08")
def test_random_histories_by_plain_git_keep_every_conversation(home: Path, tmp_path: Path) -> None:
    found = random_histories(tmp_path, 20, seed=18)
    assert found.histories == 20


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
