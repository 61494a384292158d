"""A disk that is full, read-only or limited: a clear error, nothing half-written, and work goes on afterwards."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge.errors import Upstream
from forge.git import Repository
from forge.git.errors import StorageFailed
from forge.git.process import disk
from tests.support.soak import disks, evidence, space
from tests.support.soak.nursery import ROOT

pytestmark = pytest.mark.req("X-04", "G-02")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if reason := disks.why_no_mounts():
        pytest.skip(reason)
    with disks.tmpfs(tmp_path / "disk", 16 << 10) as point:
        yield point


@pytest.mark.slow
def test_a_disk_that_fills_up_anywhere_in_a_write_changes_nothing(small_disk: Path) -> None:
    run = space.writes_on_a_filling_disk(small_disk, kilobytes=range(0, 36, 4), files=())
    assert run.refused >= 15
    assert run.attempts - run.refused >= 15


@pytest.mark.slow
def test_a_disk_that_takes_no_more_files_changes_nothing(small_disk: Path) -> None:
    run = space.writes_on_a_filling_disk(small_disk, kilobytes=(), files=range(8))
    assert run.refused >= 10
    assert run.attempts - run.refused >= 10


def actions(repo: Repository) -> dict[str, Callable[[], object]]:
    workspace = repo.workspace("work")
    workspace.write_file("file.txt", "new\n")
    return {
        "save": lambda: workspace.commit("save"),
        "save to a checkout": lambda: repo.workspace("main").commit("save", allow_empty=True),
        "create": lambda: repo.create_branch("new", "main"),
        "delete": lambda: repo.delete_branch("work"),
        "rename": lambda: repo.rename_branch("work", "other"),
        "rewind": lambda: repo.rewind_branch("work", "main"),
        "undo": repo.undo,
    }


def prepared(place: Path) -> Repository:
    repo = Repository.init(place)
    workspace = repo.workspace("main")
    workspace.write_file("file.txt", "one\n")
    workspace.commit("first")
    repo.create_branch("work", "main")
    workspace = repo.workspace("work")
    workspace.write_file("file.txt", "two\n")
    workspace.commit("second")
    return repo


def test_a_read_only_disk_can_be_read_and_refuses_every_write(small_disk: Path) -> None:
    place = small_disk / "repo"
    pending = actions(prepared(place))
    before = evidence.git(place, "for-each-ref"), evidence.git(place, "status", "--porcelain")
    gc.collect()
    with disks.read_only(small_disk):
        for act in pending.values():
            with pytest.raises(StorageFailed, match="read-only") as refused:
                act()
            assert (refused.value.code, bool(refused.value.hint)) == ("storage_failed", True)
        opened = Repository.open(place)
        assert opened.commit_vfs("work").read_file("file.txt") == "two\n"
        assert next(opened.operations()).reason == "second"
    assert (evidence.git(place, "for-each-ref"), evidence.git(place, "status", "--porcelain")) == before
    assert evidence.leftovers(place) == []
    pending["save"]()
    assert Repository.open(place).commit_vfs("work").read_file("file.txt") == "new\n"
    evidence.assert_sound(place)
    evidence.assert_log_tells_all(place)


def test_a_new_repository_on_a_full_disk_is_refused(small_disk: Path) -> None:
    with disks.room_for(small_disk, kilobytes=4), pytest.raises(Upstream) as refused:
        Repository.init(small_disk / "new")
    assert refused.value.hint


LIMITED = """
import resource, sys
from forge.git import Repository
from forge.git.errors import StorageFailed
workspace = Repository.open(sys.argv[1]).workspace("work")
workspace.write_bytes("large.bin", __import__("os").urandom(200_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    workspace.commit("limited")
except StorageFailed as e:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(e.code, len(workspace.pending), bool(e.hint))
    workspace.commit("unlimited")
"""


@pytest.mark.parametrize("limit", [0, 30, 100, 300, 100_000])
def test_a_file_size_limit_is_a_storage_failure_and_pending_changes_survive_it(tmp_path: Path, limit: int) -> None:
    place = tmp_path / "repo"
    prepared(place)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, place, str(limit)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["storage_failed", "1", "True"], "")
    subjects = evidence.git(place, "log", "--format=%s", "work").split()
    assert subjects == ["unlimited", "second", "first"]
    assert evidence.leftovers(place) == []
    evidence.assert_sound(place)
    evidence.assert_log_tells_all(place)


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_half_a_file_is_never_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="broken"):
        disk.replace_synced(tmp_path / "file", b"content")
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_cannot_be_synced_calls_the_save_off_and_keeps_what_others_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "repo"
    workspace = prepared(place).workspace("work")
    workspace.write_file("file.txt", "three\n")
    log = place / ".git" / "forge" / "operations.jsonl"
    told = [operation.id for operation in Repository.open(place).operations()]
    others = b'{"of": "another process, that wrote behind our record"}\n'

    def fail(_: int) -> None:
        with log.open("ab") as file:
            file.write(others)
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(StorageFailed, match="disk reports an error"):
            workspace.commit("third")
    assert others in log.read_bytes()
    assert [operation.id for operation in Repository.open(place).operations()] == told
    workspace.commit("third")
    evidence.assert_log_tells_all(place)


def test_a_save_that_landed_is_no_failure_when_its_end_cannot_be_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "repo"
    repo = prepared(place)
    workspace = repo.workspace("work")
    workspace.write_file("file.txt", "three\n")
    append = type(repo.refs.log._journal).append

    def only_beginnings(journal: object, records: list[dict[str, object]]) -> None:
        if any("end" in record for record in records):
            raise OSError(errno.ENOSPC, "full")
        append(journal, records)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(type(repo.refs.log._journal), "append", only_beginnings)
        made = workspace.commit("third")
    assert evidence.git(place, "rev-parse", "work").strip() == made
    workspace.write_file("file.txt", "four\n")
    workspace.commit("fourth")
    assert [o.reason for o in evidence.assert_log_tells_all(place)][-2:] == ["third", "fourth"]


@pytest.mark.parametrize("then_more", [False, True])
def test_a_refused_move_without_a_last_word_is_not_told_when_the_same_one_is_made_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then_more: bool
) -> None:
    place = tmp_path / "repo"
    repo = prepared(place)
    log = repo.refs.log
    append = type(log._journal).append

    def only_beginnings(journal: object, records: list[dict[str, object]]) -> None:
        if any("end" in record for record in records):
            raise OSError(errno.ENOSPC, "full")
        append(journal, records)  # type: ignore[arg-type]

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(type(log._journal), "append", only_beginnings)
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(StorageFailed):
            repo.rewind_branch("work", "main")
    again = Repository.open(place)
    again.rewind_branch("work", "main")
    if then_more:
        again.undo()
        again.rewind_branch("work", "main")
    evidence.assert_log_tells_all(place)
    monkeypatch.setattr("forge.git.process.liveness.died", lambda _: True)
    Repository.open(place).refs.log.notice()
    evidence.assert_log_tells_all(place)


def test_a_checkout_steps_back_when_the_log_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "repo"
    workspace = prepared(place).workspace("main")
    workspace.write_file("file.txt", "three\n")

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(StorageFailed):
            workspace.commit("third")
    assert (place / "file.txt").read_text() == "one\n"
    assert evidence.git(place, "status", "--porcelain") == ""
    workspace.commit("third")
    assert (place / "file.txt").read_text() == "three\n"
