"""What saving leaves behind over time: packs are merged beside the work, files of the dead are swept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forge.git import Repository
from forge.git.process import liveness, maintenance
from forge.git.workspace.work_in_progress import WorkInProgressVFS
from tests.support.repack import idle, wait_until
from tests.support.soak import evidence, many
from tests.support.soak.nursery import ROOT

pytestmark = pytest.mark.req("X-04", "G-02")


@pytest.fixture
def few_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_MANY_PACKS", 8)
    monkeypatch.setattr(maintenance, "_VERY_MANY_PACKS", 12)
    monkeypatch.setattr(maintenance, "_LOOK_EVERY", 1)
    monkeypatch.setattr(maintenance, "_REPACK_PAUSE", 0.0)


@pytest.fixture
def workspace(tmp_path: Path) -> WorkInProgressVFS:
    return Repository.init(tmp_path / "repo", bare=True).workspace("main")


@pytest.fixture
def place(tmp_path: Path, workspace: WorkInProgressVFS) -> Path:
    return tmp_path / "repo"


def save(workspace: WorkInProgressVFS, count: int = 1) -> None:
    for _ in range(count):
        number = len(workspace.list_files())
        workspace.write_file(f"{number}.txt", f"{number}\n")
        workspace.commit(f"number {number}")


def packs(place: Path) -> set[str]:
    return {path.name for path in (place / "objects" / "pack").glob("*.pack")}


@pytest.mark.slow
@pytest.mark.usefixtures("few_packs")
def test_packs_do_not_pile_up_and_the_last_save_costs_what_the_first_did(tmp_path: Path) -> None:
    run = many.many_commits(tmp_path, 120, compared=20)
    assert run.most_packs < 60
    assert run.against_a_new_repository < 2.5
    wait_until(lambda: idle(tmp_path / "old"))


@pytest.mark.usefixtures("few_packs")
def test_a_repack_keeps_what_nothing_points_to_and_leaves_kept_packs_alone(
    place: Path, workspace: WorkInProgressVFS
) -> None:
    save(workspace, 3)
    lost = workspace.base
    assert lost
    first = packs(place)
    for name in first:
        (place / "objects" / "pack" / name.replace(".pack", ".keep")).write_text("somebody else's")
    save(workspace, 3)
    unreachable = workspace.base
    assert unreachable
    evidence.git(place, "update-ref", "refs/heads/main", lost)
    workspace.catch_up()
    save(workspace, 8)
    wait_until(lambda: idle(place) and len(packs(place) - first) < 9)
    assert first < packs(place)
    assert Repository.open(place).commit_vfs(unreachable).list_files()
    evidence.assert_sound(place)


class SlowGit:
    """A git that notes when it is started and takes its time."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self._starts = folder / "starts"
        self._go = folder / "go"
        program = folder / "git"
        program.write_text(f"#!/bin/sh\necho $$ >> {self._starts}\nwhile [ ! -e {self._go} ]; do sleep 0.05; done\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    @property
    def starts(self) -> int:
        return len(self._starts.read_text().split()) if self._starts.exists() else 0

    def finish(self) -> None:
        self._go.touch()


@pytest.mark.usefixtures("few_packs")
def test_no_save_waits_for_a_repack_and_only_one_runs(
    tmp_path: Path, place: Path, workspace: WorkInProgressVFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(workspace, 8)
    git = SlowGit(tmp_path / "bin", monkeypatch)
    began = time.monotonic()
    save(workspace, 3)
    save(Repository.open(place).workspace("main"), 3)
    assert time.monotonic() - began < 5
    wait_until(lambda: git.starts > 0)
    assert git.starts == 1
    assert not idle(place)
    git.finish()
    wait_until(lambda: idle(place))


LAND = """
import sys
from forge.git import Repository; from forge.git.process import maintenance
maintenance._MANY_PACKS = 8
workspace = Repository.open(sys.argv[1]).workspace("main")
workspace.write_file("last.txt", "last")
workspace.commit("last")
"""


@pytest.mark.usefixtures("few_packs")
def test_a_repack_outlives_the_process_that_started_it(
    tmp_path: Path, place: Path, workspace: WorkInProgressVFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(workspace, 8)
    git = SlowGit(tmp_path / "bin", monkeypatch)
    subprocess.run([sys.executable, "-c", LAND, place], cwd=ROOT, check=True, timeout=20)
    wait_until(lambda: git.starts == 1)
    assert maintenance.repack_when_due(Repository.open(place).objects) is None
    git.finish()
    wait_until(lambda: idle(place))
    assert git.starts == 1


def gone_but_held(place: Path) -> list[str]:
    held = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [name for name in held if str(place) in name and name.endswith("(deleted)")]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells")
def test_an_open_repository_forgets_packs_that_are_gone(place: Path, workspace: WorkInProgressVFS) -> None:
    save(workspace, 3)
    assert workspace.base is not None
    workspace.objects.read(workspace.base)
    evidence.git(place, "repack", "-a", "-d", "-q")
    assert gone_but_held(place)
    save(workspace, maintenance._LOOK_EVERY)
    assert gone_but_held(place) == []
    assert len(workspace.list_files()) == 3 + maintenance._LOOK_EVERY


@pytest.mark.usefixtures("few_packs")
@pytest.mark.parametrize("kind", ["partial", "borrowing"])
def test_clones_that_lack_objects_are_repacked_without_fetching_any(
    tmp_path: Path, place: Path, workspace: WorkInProgressVFS, kind: str
) -> None:
    save(workspace, 2)
    evidence.git(place, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    options = ["--filter=blob:none", f"file://{place}"] if kind == "partial" else ["--shared", str(place)]
    evidence.git(tmp_path, "clone", "--quiet", "--bare", *options, str(clone))
    save_here = Repository.open(clone).workspace("main")
    for number in range(14):
        save_here.write_file(f"new-{number}.txt", f"new {number}\n")
        save_here.commit(f"new {number}")
    wait_until(lambda: idle(clone))
    assert len(packs(clone)) < 8
    assert packs(place)
    evidence.assert_sound(clone)
    assert Repository.open(clone).commit_vfs("main").read_file("new-3.txt") == "new 3\n"
    if kind == "partial":
        missing = evidence.git(clone, "rev-list", "--objects", "--missing=print", "main")
        assert "?" in missing


# -- what dead processes left


def forge_pack(place: Path, ending: str) -> Path:
    return place / "objects" / "pack" / f"pack-f0e6e001{'a' * 32}.{ending}"


def aged(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def test_what_a_living_process_or_somebody_else_keeps_is_not_swept(place: Path, workspace: WorkInProgressVFS) -> None:
    save(workspace)
    alive = forge_pack(place, "keep")
    alive.write_text(liveness.mark_of_this_process())
    fresh = place / "forge" / "tmp" / "fresh"
    fresh.write_text("")
    foreign = place / "objects" / "pack" / f"pack-{'b' * 40}.keep"
    foreign.write_text("")
    for path in (alive, foreign):
        aged(path, 100_000)
    assert maintenance.sweep(workspace.objects) == ()
    assert alive.exists()
    assert foreign.exists()
    assert fresh.exists()


def test_what_dead_processes_kept_is_swept_with_what_they_had_not_finished(
    place: Path, workspace: WorkInProgressVFS
) -> None:
    save(workspace)
    gone = json.dumps(json.loads(liveness.mark_of_this_process()) | {"started": "1"})
    left = [forge_pack(place, "pack"), place / "forge" / "tmp" / forge_pack(place, "idx").name]
    for path in left:
        path.write_bytes(b"half")
    forge_pack(place, "keep").write_text(gone)
    old = place / "forge" / "tmp" / "index-old"
    old.mkdir()
    (old / "index").write_text("")
    aged(old, 100_000)
    emptied = place / "objects" / "pack" / f"pack-f0e6e001{'c' * 32}.keep"
    emptied.write_text("")
    aged(emptied, 100_000)
    expected = {*left, forge_pack(place, "keep"), old, emptied}
    assert set(maintenance.sweep(workspace.objects, pretend=True)) == expected
    assert set(maintenance.sweep(workspace.objects)) == expected
    assert not any(path.exists() for path in expected)
    evidence.assert_sound(place)


def test_a_pack_that_a_dead_process_had_finished_stays(place: Path, workspace: WorkInProgressVFS) -> None:
    save(workspace)
    (pack,) = packs(place)
    keep = place / "objects" / "pack" / pack.replace(".pack", ".keep")
    keep.write_text(json.dumps(json.loads(liveness.mark_of_this_process()) | {"started": "1"}))
    assert maintenance.sweep(workspace.objects) == (keep,)
    assert packs(place) == {pack}
    evidence.assert_sound(place)
