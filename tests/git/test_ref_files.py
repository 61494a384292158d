"""Refs moved by Forge look as if git had moved them: the file, its folder, and what the reflogs tell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.errors import ForgeError
from forge.git import BranchExists, Repository
from forge.git.errors import StorageFailed
from forge.git.refs import compare_and_swap, locks, ref_files
from forge.git.refs.operations.operation import Claim
from tests.git import worlds
from tests.support.soak import evidence

pytestmark = pytest.mark.req("G-01", "G-09")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return worlds.template(tmp_path_factory.mktemp("template"), {"f": "1\n"}, {"f": "2\n"})


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    return worlds.copied(template, tmp_path / "repo")


def reflogs(git_dir: Path) -> dict[str, list[tuple[str, ...]]]:
    """Old and new id and identity of every line, by log."""
    logs = [path for path in (git_dir / "logs").rglob("*") if path.is_file()]
    lines = {str(log.relative_to(git_dir / "logs")): log.read_text().splitlines() for log in logs}
    return {name: [(*line.split()[:2], line.partition("> ")[0]) for line in told] for name, told in lines.items()}


def by_forge(place: Path, first: str, second: str) -> None:
    repo = Repository.open(place)
    repo.create_branch("ai/new", first)
    repo.create_branch("plain", second)
    for branch in ("ai/new", "main"):
        repo.rewind_branch(branch, second if branch == "ai/new" else first)


def by_git(place: Path, first: str, second: str) -> None:
    moves = [("ai/new", first), ("plain", second), ("ai/new", second), ("main", first)]
    for branch, commit in moves:
        worlds.git(place, "update-ref", "-m", "moved", f"refs/heads/{branch}", commit)


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("setting", [None, "true", "false", "always", "yes", "off"])
def test_reflogs_are_kept_where_git_keeps_them(template: Path, tmp_path: Path, setting: str | None, bare: bool) -> None:
    told = []
    for name, move in (("forge", by_forge), ("git", by_git)):
        place = worlds.copied(template, tmp_path / name)
        if setting:
            worlds.git(place, "config", "core.logAllRefUpdates", setting)
        if bare:
            worlds.git(place, "config", "core.bare", "true")
        second, first = worlds.text(place, "rev-list", "main").split()
        move(place, first, second)
        logs = reflogs(place / ".git")
        told.append({name: lines for name, lines in logs.items() if not name.startswith("refs/forge/")})
    assert told[0] == told[1]


def test_a_linked_worktree_has_the_moves_of_its_branch_in_its_own_log(place: Path, tmp_path: Path) -> None:
    worlds.git(place, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    linked = place / ".git" / "worktrees" / "linked"
    workspace = Repository.open(tmp_path / "linked").workspace("topic")
    workspace.write_file("f", "3\n")
    made = workspace.commit("third")
    told = worlds.text(tmp_path / "linked", "reflog", "show", "--format=%H %gs", "HEAD").splitlines()[0]
    assert told == f"{made} forge: third"
    assert reflogs(linked)["HEAD"][-1] == reflogs(place / ".git")["refs/heads/topic"][-1]
    assert made not in (place / ".git" / "logs" / "HEAD").read_text()


def test_folders_that_branches_left_behind_make_room(place: Path) -> None:
    for folder in ("refs/heads/ai/x/y", "logs/refs/heads/ai/x"):
        (place / ".git" / folder).mkdir(parents=True)
    repo = Repository.open(place)
    tip = repo.create_branch("ai", "main")
    assert worlds.branches(place)["ai"] == tip
    assert (place / ".git" / "logs" / "refs" / "heads" / "ai").is_file()
    with pytest.raises(BranchExists, match="cannot exist beside ai"):
        repo.create_branch("ai/x", "main")


def test_a_folder_that_vanishes_between_two_steps_is_made_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git pack-refs` removes folders that it has emptied."""
    make, times = ref_files._make_folder, 3

    def made_and_gone(folder: str) -> None:
        nonlocal times
        make(folder)
        if "logs" not in folder and times > 0:
            times -= 1
            os.rmdir(folder)

    monkeypatch.setattr(ref_files, "_make_folder", made_and_gone)
    tip = Repository.open(place).create_branch("ai/deep/new", "main")
    assert worlds.branches(place)["ai/deep/new"] == tip
    assert times == 0


def test_a_ref_whose_folder_went_into_packed_refs_is_durable_there(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = ref_files.disk.sync_file

    def packed_first(common: Path, ref: str) -> None:
        worlds.git(place, "pack-refs", "--all", "--prune")
        ref_files.sync_folder(common, ref)

    def noted(path: Path | str) -> None:
        sync(path)
        synced.append(Path(path).name)

    monkeypatch.setattr(compare_and_swap, "sync_folder", packed_first)
    monkeypatch.setattr(ref_files.disk, "sync_file", noted)
    tip = Repository.open(place).create_branch("ai/new", "main")
    assert worlds.branches(place)["ai/new"] == tip
    assert synced[-2:] == ["packed-refs", ".git"]


def test_a_move_that_cannot_be_made_durable_is_taken_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repository.open(place)
    repo.create_branch("work", "main")
    before = worlds.branches(place)
    broken = [StorageFailed("The disk reports an error; nothing was changed.")]

    def fail_once(common: Path, ref: str) -> None:
        if broken:
            raise broken.pop()
        ref_files.sync_folder(common, ref)

    workspace = repo.workspace("work")
    workspace.write_file("f", "3\n")
    with monkeypatch.context() as patched:
        patched.setattr(compare_and_swap, "sync_folder", fail_once)
        with pytest.raises(StorageFailed):
            workspace.commit("third")
    assert worlds.branches(place) == before
    workspace.commit("third")
    reasons = [operation.reason for operation in evidence.assert_log_tells_all(place)]
    assert reasons == [f"new branch work at {before['main'][:7]}", "third"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda git_dir: (git_dir / "refs/heads/work").write_text("ref: refs/heads/main\n"),
        lambda git_dir: (git_dir / "refs/heads/work").unlink(),
        lambda git_dir: (git_dir / "refs/heads/work").write_text(f"{'1' * 40}\n"),
    ],
)
def test_what_stands_there_under_the_lock_decides(
    place: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], object]
) -> None:
    repo = Repository.open(place)
    repo.create_branch("work", "main")
    workspace = repo.workspace("work")
    workspace.write_file("f", "3\n")
    enter = ref_files.RefLock.__enter__

    def spoiled(lock: ref_files.RefLock) -> ref_files.RefLock:
        spoil(place / ".git")
        return enter(lock)

    monkeypatch.setattr(ref_files.RefLock, "__enter__", spoiled)
    main = worlds.branches(place)["main"]
    with pytest.raises(ForgeError) as told:
        workspace.commit("third")
    assert told.value.code == "branch_moved"
    assert worlds.text(place, "rev-parse", "main") == main
    assert not list((place / ".git" / "refs").rglob("*.lock"))


def test_a_lock_that_a_living_process_has_open_is_not_taken_for_a_dead_ones(place: Path) -> None:
    """Both want the same value: the dead one said so, the living one has it in its lock."""
    ended = subprocess.run(
        [sys.executable, "-c", "from forge.git.process.liveness import *; print(mark_of_this_process(), end='')"],
        capture_output=True,
        text=True,
        check=True,
    )
    tip = Repository.open(place).commit("main").id
    Repository.open(place).create_branch("work", "main")  # makes the folder of Forge
    claim = Claim(ended.stdout, 0.0, tip)
    with ref_files.RefLock(place / ".git", "refs/heads/new", tip):
        assert not locks.removed(place / ".git", "refs/heads/new", [claim])
    lock = place / ".git/refs/heads/new.lock"
    lock.write_text(f"{tip}\n")
    assert locks.removed(place / ".git", "refs/heads/new", [claim])
    assert not lock.exists()
