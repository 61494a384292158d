"""What was reported as saved is there: after `kill -9` at any moment, after a power cut, with a clock that jumps."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forge.git import Repository
from forge.git.values import ActorKind
from tests.support.repositories import repository
from tests.support.soak import disks, evidence, kills, power, steps
from tests.support.soak.nursery import ROOT

pytestmark = pytest.mark.req("X-04", "G-02")

RECOVERY = 5.0


@pytest.fixture
def tracing() -> None:
    if reason := steps.why_no_strace():
        pytest.skip(reason)


@pytest.fixture
def mounts() -> None:
    if reason := disks.why_no_mounts():
        pytest.skip(reason)


@pytest.mark.slow
@pytest.mark.parametrize("branch", ["ai/work", "main"])
def test_no_acknowledged_commit_is_lost_or_doubled_by_kill_9(tmp_path: Path, branch: str) -> None:
    run = kills.killed_while_committing(repository(tmp_path, "ai/work"), 9, branch=branch, seed=time.time_ns())
    assert run.acknowledged >= 9
    assert run.unheard <= run.kills
    assert run.slowest_recovery < RECOVERY


@pytest.mark.slow
def test_branch_operations_survive_kill_9(tmp_path: Path) -> None:
    run = kills.killed_while_committing(repository(tmp_path), 8, work="branches", seed=time.time_ns())
    assert run.acknowledged >= 8
    assert run.slowest_recovery < RECOVERY


@pytest.mark.slow
@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize(
    ("action", "calls", "least"),
    [("commit", ("fdatasync", "rename"), 4), ("rename", ("link", "rename"), 3)],
)
def test_work_goes_on_after_a_kill_before_each_step(
    tmp_path: Path, action: str, calls: tuple[str, ...], least: int
) -> None:
    run = steps.killed_at_each_step(tmp_path, action, calls)
    assert run.kills >= least
    assert run.slowest_recovery < RECOVERY


@pytest.mark.slow
@pytest.mark.usefixtures("mounts")
@pytest.mark.parametrize("work", ["commits", "branches"])
def test_acknowledged_work_survives_a_power_cut(tmp_path: Path, work: str) -> None:
    run = power.cut_while_committing(tmp_path, 2, work=work, seed=time.time_ns())
    assert run.acknowledged >= 4
    assert (run.lost, run.broken) == (0, 0)


@pytest.mark.usefixtures("mounts")
def test_a_power_cut_shows_what_was_not_synced(tmp_path: Path) -> None:
    run = power.cut_while_committing(tmp_path, 1, work="unsynced")
    assert run.lost > 0


def died_doing(repo: Path, code: str) -> None:
    """Run `code` in a process that ends itself by `end()`."""
    script = (
        "import os, signal, sys, pygit2\n"
        "from forge.git import Repository\n"
        "from forge.git.objects import pack\n"
        "from forge.git.refs import ref_store as refs, compare_and_swap as swap\n"
        "from forge.git.refs.operations.log import OperationLog\n"
        "end = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "repo = Repository.open(sys.argv[1])\n" + code
    )
    done = subprocess.run([sys.executable, "-c", script, repo], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


SAVE = "w = repo.workspace('work'); w.write_file('new.txt', 'new'); w.commit('lost or not')\n"


def test_a_save_that_died_before_its_ref_moved_did_not_happen(tmp_path: Path) -> None:
    place = repository(tmp_path, "work")
    died_doing(place, "refs.swap = end\n" + SAVE)
    operations = evidence.assert_log_tells_all(place)
    assert [o.reason for o in operations if "lost or not" in o.reason] == []
    save(place, "next")
    assert [o.reason for o in evidence.assert_log_tells_all(place)][-1] == "next"


def test_a_save_that_died_after_its_ref_moved_happened_and_can_be_undone(tmp_path: Path) -> None:
    place = repository(tmp_path, "work")
    died_doing(place, "OperationLog.end = end\n" + SAVE)
    save(place, "next")
    reasons = [o.reason for o in evidence.assert_log_tells_all(place)]
    assert reasons[-2:] == ["lost or not", "next"]
    repo = Repository.open(place)
    repo.undo()
    repo.undo()
    assert not repo.commit_vfs("work").file_exists("new.txt")
    evidence.assert_log_tells_all(place)


def test_what_git_did_after_a_save_that_died_is_told_apart(tmp_path: Path) -> None:
    place = repository(tmp_path, "work")
    died_doing(place, "OperationLog.end = end\n" + SAVE)
    made = evidence.git(place, "rev-parse", "work").strip()
    tree = evidence.git(place, "rev-parse", "main^{tree}").strip()
    later = evidence.git(place, "commit-tree", "-p", made, "-m", "by git", tree).strip()
    evidence.git(place, "update-ref", "refs/heads/work", later)
    died, outside = evidence.assert_log_tells_all(place, outside=True)[-2:]
    assert (died.reason, died.moves[0].after) == ("lost or not", made)
    assert (outside.actor.kind, outside.moves[0].before) == (ActorKind.EXTERNAL, made)


def test_a_rename_that_died_half_way_is_recorded_as_far_as_it_came(tmp_path: Path) -> None:
    place = repository(tmp_path, "work")
    died_doing(place, "swap._delete = end\nrepo.rename_branch('work', 'other')\n")
    operations = evidence.assert_log_tells_all(place)
    assert [m.ref.removeprefix("refs/heads/") for m in operations[-1].moves if "/heads/" in m.ref] == ["other"]
    repo = Repository.open(place)
    repo.delete_branch("other")
    assert repo.refs.tip("work")
    evidence.assert_log_tells_all(place)


def test_files_of_a_dead_process_are_swept_by_the_next_save(tmp_path: Path) -> None:
    place = repository(tmp_path, "work")
    for where in ("pack.disk.sync_directory", "pack.os.rename", "refs.swap"):
        died_doing(place, f"{where} = end\n" + SAVE)
    assert evidence.leftovers(place)
    save(place, "next")
    assert evidence.leftovers(place) == []
    evidence.assert_sound(place)


def test_a_clock_that_jumps_changes_neither_order_nor_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = repository(tmp_path, "work")
    real, real_ns = time.time, time.time_ns
    for number, days in enumerate((1, -1, 0, -2, 3)):
        monkeypatch.setattr(time, "time", lambda days=days: real() + days * 86400)
        monkeypatch.setattr(time, "time_ns", lambda days=days: real_ns() + days * 86400 * 10**9)
        save(place, f"number {number}")
    operations = evidence.assert_log_tells_all(place)
    assert [o.reason for o in operations][-5:] == [f"number {number}" for number in range(5)]
    subjects = evidence.git(place, "log", "--topo-order", "--format=%s", "work").splitlines()
    assert subjects == [f"number {number}" for number in (4, 3, 2, 1, 0)] + ["first"]
    Repository.open(place).undo()
    assert evidence.git(place, "log", "-1", "--format=%s", "work").strip() == "number 3"
    evidence.assert_sound(place)


def save(place: Path, message: str) -> None:
    workspace = Repository.open(place).workspace("work")
    workspace.write_file("file.txt", message)
    workspace.commit(message)
