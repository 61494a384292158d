"""`forge doctor`: what it checks, what it says, and its exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge
from tests.conftest import MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a": "a\n"})
    monkeypatch.chdir(repo)
    return repo


def test_a_sound_machine_and_repository_pass_every_check(forge: Forge, repo: Path) -> None:
    done = forge("doctor")
    assert (done.code, done.err) == (0, "")
    names = [line.split()[:2] for line in done.out.splitlines()]
    assert names == snapshot(
        [
            ["✓", "git"],
            ["✓", "sandbox"],
            ["✓", "repository"],
            ["✓", "writing"],
            ["✓", "locks"],
            ["✓", "leftovers"],
            ["✓", "turns"],
            ["✓", "disk"],
            ["✓", "branches"],
        ]
    )
    found = forge("doctor", "--json").document
    assert found["ok"] is True
    assert {check["state"] for check in found["checks"]} == {"ok"}


def test_outside_of_a_repository_the_machine_is_checked_and_the_rest_fails(forge: Forge, tmp_path: Path) -> None:
    done = forge("doctor", "-C", str(tmp_path))
    assert done.code == 1
    assert "✗ repository" in done.out
    assert "→ Run `git init` there" in done.out
    assert forge("doctor", "-C", str(tmp_path), "--json").document["ok"] is False


def test_a_warning_comes_with_a_hint_and_is_no_failure(forge: Forge, repo: Path) -> None:
    lock = repo / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    done = forge("doctor")
    assert done.code == 0
    assert "! locks       Old lock files: index.lock.\n" in done.out
