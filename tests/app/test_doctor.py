"""What the doctor sees: git, the sandbox, a repository's locks, leftovers, disk and branches."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from forge.app import doctor
from forge.app.doctor import Check, State, examine
from tests.conftest import Git, MakeRepo
from tests.machine import write_program


@pytest.fixture
def repo(make_repo: MakeRepo) -> Path:
    return make_repo({"a": "a\n"})


def found(directory: Path, name: str, **options: bool) -> Check:
    (check,) = [check for check in examine(directory, **options) if check.name == name]
    return check


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on PATH."""
    place = tmp_path / "programs"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    return place


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("git version 2.38.0", State.OK),
        ("git version 2.39.2.windows.1", State.OK),
        ("git version 3.0", State.OK),
        ("git version 2.37.9", State.FAILED),
        ("git version 1.9", State.FAILED),
    ],
)
def test_git_must_be_new_enough(programs: Path, tmp_path: Path, answer: str, state: State) -> None:
    write_program(programs / "git", f"echo {answer}")
    assert found(tmp_path, "git").state is state


def test_missing_programs_are_named_with_what_to_do(programs: Path, tmp_path: Path) -> None:
    git, sandbox = found(tmp_path, "git"), found(tmp_path, "sandbox")
    assert (git.state, git.hint) == (State.FAILED, "Install git 2.38 or newer.")
    assert sandbox.state is State.WARNING
    assert "bubblewrap" in sandbox.hint


def test_without_a_repository_the_checks_end_there(tmp_path: Path) -> None:
    checks = list(examine(tmp_path))
    assert [check.name for check in checks] == ["git", "sandbox", "repository"]
    assert checks[-1].state is State.FAILED
    assert checks[-1].hint


def test_only_old_locks_are_worth_a_warning(repo: Path, git: Git) -> None:
    git(repo, "worktree", "add", "--quiet", str(repo.parent / "linked"))
    fresh = repo / ".git" / "index.lock"
    fresh.touch()
    assert found(repo, "locks").state is State.OK
    for name in ("refs/heads/main.lock", "packed-refs.lock", "worktrees/linked/index.lock"):
        lock = repo / ".git" / name
        lock.touch()
        os.utime(lock, (time.time() - 3600,) * 2)
    check = found(repo, "locks")
    assert check.state is State.WARNING
    assert check.detail == "Old lock files: packed-refs.lock, refs/heads/main.lock, worktrees/linked/index.lock."


def test_a_lock_that_goes_while_we_look_is_no_trouble(tmp_path: Path) -> None:
    assert doctor._age(tmp_path / "gone.lock") == 0


def test_leftovers_of_dead_processes_are_removed_only_on_demand(repo: Path) -> None:
    scratch = repo / ".git" / "forge" / "tmp"
    scratch.mkdir(parents=True)
    left = scratch / "left"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    check = found(repo, "leftovers")
    assert (check.state, check.hint) == (State.WARNING, "Run `forge doctor --repair`.")
    assert left.exists()
    assert found(repo, "leftovers", repair=True).state is State.OK
    assert not left.exists()
    assert found(repo, "leftovers").detail == "Nothing was left by processes that died."


def test_a_disk_that_is_nearly_full_is_told(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=500 << 20))
    check = found(repo, "disk")
    assert (check.state, check.detail) == (State.WARNING, "0.5 GiB free")


def test_a_branch_that_cannot_be_read_is_named(repo: Path, git: Git) -> None:
    (repo / ".git" / "refs" / "heads" / "broken").write_text("1" * 40 + "\n")
    check = found(repo, "branches")
    assert check.state is State.FAILED
    assert check.detail.startswith("broken: ")
    assert "git fsck" in check.hint


def test_a_repository_that_cannot_be_written_is_told(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: "refs" not in str(path))
    check = found(repo, "writing")
    assert (check.state, check.detail) == (State.FAILED, f"{repo / '.git' / 'refs'} cannot be written.")
