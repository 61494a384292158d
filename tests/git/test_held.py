"""What is in use is held by refs, and a ref moves only to what is whole."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from forge.git import CommitId, Repository
from forge.git.errors import HistoryPruned, StorageFailed
from forge.git.refs import holds as held
from forge.git.refs.holds import HELD
from forge.git.refs.reservations import release, reserve
from tests.conftest import Git, MakeRepo
from tests.support.soak import disks
from tests.support.soak.evidence import assert_sound

pytestmark = [pytest.mark.req("G-09", "X-04")]

_CLEAN = (("reflog", "expire", "--expire=now", "--all"), ("gc", "--quiet", "--prune=now"))


@pytest.fixture
def place(make_repo: MakeRepo) -> Path:
    place = make_repo({"a.txt": "hello\n"})
    repo = Repository.open(place)
    repo.create_branch("v", "main")
    for number in range(3):
        files = repo.workspace("v")
        files.write_file(f"own/{number}.txt", f"{number}\n")
        files.commit(f"number {number}")
    return place


def prune(place: Path, git: Git) -> None:
    for args in _CLEAN:
        git(place, *args)


def holds(place: Path, git: Git) -> list[str]:
    return git(place, "for-each-ref", "--format=%(refname)", HELD).splitlines()


def test_what_a_turn_holds_survives_any_gc_and_another_process_finds_it(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    tip = repo.resolve("v")
    reserve(repo.common_dir, "v", "0badcafe0bad", "model")
    repo.refs.hold("0badcafe0bad", [tip])
    git(place, "branch", "-D", "v")
    prune(place, git)
    assert git(place, "show", f"{tip}:own/2.txt") == "2"
    again = Repository.open(place)
    again.refs.hold("0badcafe0bad", [tip])
    assert again.refs.held.holds(tip)
    again.refs.held.let_go("0badcafe0bad")
    assert holds(place, git) == []


def test_a_hold_of_what_is_gone_is_refused(place: Path, git: Git) -> None:
    tip = Repository.open(place).resolve("v")
    git(place, "branch", "-D", "v")
    prune(place, git)
    with pytest.raises(HistoryPruned, match="is gone"):
        Repository.open(place).refs.hold("0badcafe0bad", [tip])
    assert holds(place, git) == [], "git would stumble over a ref to what is gone"
    assert_sound(place)


def test_a_disk_that_cannot_be_written_holds_nothing_for_a_reader_and_stops_a_writer(tmp_path: Path, git: Git) -> None:
    if reason := disks.why_no_mounts():
        pytest.skip(reason)
    with disks.tmpfs(tmp_path / "disk", 16 << 10) as point:
        repo = Repository.init(point / "repo")
        files = repo.workspace("main")
        files.write_file("a.txt", "hello\n")
        tip = files.commit("first")
        with disks.read_only(point):
            with repo.materialize(repo.commit_vfs("main"), root=tmp_path / "made") as directory:
                assert (directory.path / "a.txt").read_text() == "hello\n"
            with pytest.raises(StorageFailed, match="read-only"), repo.refs.held.during([tip]):
                raise AssertionError("the block ran without its hold")
        del files, repo


def test_a_hold_that_was_packed_and_moved_since_is_let_go_as_a_whole(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    repo.refs.hold("0badcafe0bad", [repo.resolve("v~1")])
    git(place, "pack-refs", "--all")
    repo.refs.hold("0badcafe0bad", [repo.resolve("v")])
    repo.refs.held.let_go("0badcafe0bad")
    assert holds(place, git) == []


def test_a_block_holds_only_while_it_runs(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    tip = repo.resolve("v")
    with repo.refs.held.during([tip]):
        git(place, "branch", "-D", "v")
        prune(place, git)
        assert_sound(place)
        assert git(place, "cat-file", "-t", tip) == "commit"
        assert holds(place, git) != []
    # git had packed it
    held.sweep(repo.objects)
    assert holds(place, git) == []


def test_holds_of_the_dead_are_swept_and_those_of_the_living_are_not(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    tip = repo.resolve("v")
    code = (
        "import os; from forge.git import Repository\n"
        f"repo = Repository.open({str(place)!r}); block = repo.refs.held.during([repo.resolve('v')])\n"
        "block.__enter__(); os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    reserve(repo.common_dir, "v", "aaaa", "model")
    repo.refs.hold("aaaa", [tip])
    repo.refs.hold("bbbb", [tip])
    with repo.refs.held.during([tip]):
        assert len(holds(place, git)) == 4
        git(place, "pack-refs", "--all", "--prune")
        assert len(held.sweep(repo.objects, pretend=True)) == 2
        assert len(holds(place, git)) == 4
        held.sweep(repo.objects)
        assert len(holds(place, git)) == 2
    held.sweep(repo.objects)
    assert holds(place, git) == [f"{HELD}turn-aaaa-0"]
    release(repo.common_dir, "v", "aaaa")
    held.sweep(repo.objects)
    assert holds(place, git) == []


def test_saving_sweeps_what_the_dead_held(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    repo.refs.hold("bbbb", [repo.resolve("v")])
    fresh = Repository.open(place).workspace("v")
    fresh.write_file("x.txt", "x\n")
    fresh.commit("x")
    assert holds(place, git) == []


def test_what_was_pruned_and_can_still_be_read_is_written_again(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    start = repo.resolve("v")
    for commit in repo.log("v"):
        repo.commit_vfs(commit.id).read_bytes("a.txt")
    git(place, "branch", "-D", "v")
    prune(place, git)
    repo.create_branch("again", start)
    assert git(place, "show", "again:own/2.txt") == "2"
    prune(place, git)
    assert_sound(place)


def test_a_branch_is_never_made_of_what_is_gone_in_part(place: Path, git: Git) -> None:
    """git may prune a file and leave the commit that needs it."""
    start = CommitId(git(place, "rev-parse", "v"))
    blob = git(place, "rev-parse", "v:own/0.txt")
    git(place, "branch", "-D", "v")
    for pack in (place / ".git/objects/pack").glob("*.pack"):
        taken = pack.rename(place.parent / pack.name)
        subprocess.run(["git", "unpack-objects", "-q"], cwd=place, input=taken.read_bytes(), check=True)
        pack.with_suffix(".idx").unlink()
    (place / ".git/objects" / blob[:2] / blob[2:]).unlink()
    repo = Repository.open(place)
    with pytest.raises(HistoryPruned, match="is gone"):
        repo.create_branch("again", start)
    preview = repo.preview_merge(start, "main")
    with pytest.raises(HistoryPruned, match="No branch was moved"):
        repo.perform(preview)
    assert git(place, "branch", "--list", "again") == ""
    assert holds(place, git) == []
    prune(place, git)
    assert_sound(place)


def test_a_move_to_what_no_ref_leads_to_survives_a_gc_that_began_before(place: Path, git: Git) -> None:
    """git repacks what it saw when it began, and drops all else with the old packs."""
    repo = Repository.open(place)
    start = CommitId(git(place, "rev-parse", "v~1"))
    git(place, "branch", "-D", "v")
    packs = set((repo.objects.objects_dir / "pack").iterdir())
    repo.create_branch("again", start)
    new = set((repo.objects.objects_dir / "pack").glob("*.pack")) - packs
    assert len(new) == 1
    listed = git(place, "verify-pack", "-v", str(new.pop()))
    for needed in git(place, "rev-list", "--objects", "main..again").splitlines():
        assert needed.split()[0] in listed


@pytest.mark.req("G-01")
def test_a_save_needs_no_hold_and_no_other_process(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ref that moves is the proof; opening and saving a branch cost what they did."""
    repo = Repository.open(place)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("git was asked")

    monkeypatch.setattr(held, "_put", refuse)
    files = repo.workspace("v")
    files.write_file("x.txt", "x\n")
    monkeypatch.setattr(type(repo.objects.git), "run", refuse)
    files.commit("x")
    repo.undo()
    monkeypatch.undo()
    monkeypatch.setattr(type(repo.objects.git), "run", refuse)
    repo.create_branch("new", "v")
    repo.create_branch("newer")
    repo.rewind_branch("v", "v~2")


def test_a_ref_that_goes_in_the_moment_of_the_move_is_not_trusted(
    place: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repository.open(place)
    for commit in repo.log("v"):
        repo.commit_vfs(commit.id).read_bytes("a.txt")
    begin = repo.refs.log.begin
    times = 0

    def interfered(*args: Any, **options: Any) -> Any:
        nonlocal times
        times += 1
        if times == 1:
            git(place, "branch", "-D", "v")
            prune(place, git)
        return begin(*args, **options)

    monkeypatch.setattr(repo.refs.log, "begin", interfered)
    repo.create_branch("again", "v")
    assert times == 2
    prune(place, git)
    assert_sound(place)
    assert git(place, "show", "again:own/2.txt") == "2"


def test_a_hold_is_made_although_git_removes_its_empty_folder_meanwhile(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.txt": "1\n"}))
    tip = repo.resolve("main")
    folder = repo.common_dir / HELD
    ended = threading.Event()

    def sweep() -> None:
        while not ended.is_set():
            with suppress(OSError):
                os.rmdir(folder)
            time.sleep(0.0001)

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for _ in range(300):
            with repo.refs.held.during([tip]):
                assert any(folder.iterdir())
    finally:
        ended.set()
        sweeper.join()
