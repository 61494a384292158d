"""A process that dies anywhere in a write: whoever opens the project next has none of it or all of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.git import Repository
from forge.projects import pending
from forge.projects.records import Records
from tests.conftest import Git

pytestmark = pytest.mark.req("P-11", "W-03")

OLD = {"docs/spec.md": "old spec\n", "status.json": None, "gone.md": "going\n", "kept.md": "kept\n"}
CHANGE: dict[str, str | bytes | None] = {
    "docs/spec.md": "the new spec, longer than before\n",
    "docs/deep/plan.md": "the new plan\n",
    "gone.md": None,
}
DIED = 9


@pytest.fixture
def template(memory: Path) -> Path:
    place = memory / "template"
    Records.init(place, {path: text for path, text in OLD.items() if text}, "project: p")
    return place


def write(directory: Path) -> None:
    Records.open(directory).update(lambda _: CHANGE, "spec: new", step="step-1")


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a process of its own that ends without any clean-up; its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a child of threads only ever execs or exits here
        child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def dying(at: int, *, after: bool) -> None:
    """Let this process die at the `at`-th thing it does to the disk: syncs, renames, removals, git commands."""
    done = 0

    def watched(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            done += 1
            mine = done == at
            if mine and not after:
                os._exit(DIED)
            result = call(*args, **kwargs)
            if mine:
                os._exit(DIED)
            return result

        return counted

    for name in ("fsync", "fdatasync", "replace", "rename", "unlink", "link"):
        setattr(os, name, watched(name, getattr(os, name)))
    subprocess.run = watched("run", subprocess.run)  # type: ignore[assignment]


def new_files(directory: Path) -> dict[str, str | None]:
    paths = ("docs/spec.md", "docs/deep/plan.md", "gone.md", "kept.md")
    return {path: p.read_text() if (p := directory / path).exists() else None for path in paths}


BEFORE = {"docs/spec.md": "old spec\n", "docs/deep/plan.md": None, "gone.md": "going\n", "kept.md": "kept\n"}
AFTER = {**BEFORE, **CHANGE}


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_point_leaves_none_or_all_and_the_step_is_done_once(
    template: Path, memory: Path, git: Git, after: bool
) -> None:
    outcomes = []
    for at in range(1, 200):
        place = memory / f"at-{at}"
        shutil.copytree(template, place, symlinks=True)

        def work(place: Path = place, at: int = at) -> None:
            dying(at, after=after)
            write(place)

        code = in_child(work)
        assert code in (0, DIED)
        (place / "mine.md").write_text("a person's")
        opened = Records.open(place)
        assert opened.take_in().files == ("mine.md",), at
        found = new_files(place)
        assert found in (BEFORE, AFTER), at
        outcomes.append(found == AFTER)
        first = opened.update(lambda _: CHANGE, "spec: new", step="step-1")
        assert new_files(place) == AFTER
        assert opened.update(lambda _: {"never.md": "x"}, "spec: new", step="step-1") == first
        log = git(place, "log", "--format=%an|%s").splitlines()
        assert sorted(log) == ["Ada Example|edit: mine.md", "Forge|project: p", "Forge|spec: new"], at
        assert git(place, "status", "--porcelain") == "", at
        shutil.rmtree(place)
        if code == 0:
            break
    assert len(outcomes) > 15
    assert outcomes == sorted(outcomes)
    assert {True, False} <= set(outcomes)


def stopped_while_it_wrote(template: Path, half_done: Callable[[Path], None]) -> None:
    def work() -> None:
        def place(_: Repository, root: Path, __: pending.PendingRecord) -> None:
            half_done(root)
            os._exit(DIED)

        pending.place = place
        write(template)

    assert in_child(work) == DIED


@pytest.mark.parametrize(
    "half_done",
    [
        lambda root: (root / "docs/spec.md").unlink(),
        lambda root: (root / "docs/spec.md").write_text(""),
        lambda root: (root / "docs/spec.md").write_text("the new sp"),
        lambda root: (root / "gone.md").unlink(),
        lambda root: (root / "docs/spec.md").write_text(str(CHANGE["docs/spec.md"])),
    ],
)
def test_a_file_that_is_half_written_after_a_power_cut_is_finished(
    template: Path, git: Git, half_done: Callable[[Path], None]
) -> None:
    stopped_while_it_wrote(template, half_done)
    opened = Records.open(template)
    assert new_files(template) == AFTER
    assert opened.take_in().commit is None
    assert git(template, "log", "--format=%an|%s").splitlines() == ["Forge|spec: new", "Forge|project: p"]
    assert git(template, "status", "--porcelain") == ""


def test_an_edit_between_the_crash_and_the_next_start_is_kept_as_the_persons(template: Path, git: Git) -> None:
    stopped_while_it_wrote(template, lambda root: None)
    (template / "docs/spec.md").write_text("by hand after the crash\n")
    (template / "gone.md").write_text("still wanted\n")
    opened = Records.open(template)
    taken = opened.take_in()
    assert taken.files == ("docs/spec.md", "gone.md")
    assert (template / "docs/spec.md").read_text() == "by hand after the crash\n"
    assert (template / "docs/deep/plan.md").read_text() == "the new plan\n"
    assert git(template, "log", "--format=%an|%s").splitlines() == [
        "Ada Example|edit: 2 files by hand",
        "Forge|spec: new",
        "Forge|project: p",
    ]


def test_a_kill_while_edits_are_taken_in_loses_none_and_doubles_none(template: Path, memory: Path, git: Git) -> None:
    (template / "docs/spec.md").write_text("mine\n")
    (template / "new.md").write_text("new\n")
    for at in range(1, 200):
        place = memory / f"at-{at}"
        shutil.copytree(template, place, symlinks=True)

        def work(place: Path = place, at: int = at) -> None:
            dying(at, after=False)
            Records.open(place).take_in()

        code = in_child(work)
        Records.open(place).take_in()
        log = git(place, "log", "--format=%an|%s").splitlines()
        assert log == ["Ada Example|edit: 2 files by hand", "Forge|project: p"], at
        assert git(place, "status", "--porcelain") == "", at
        assert (place / "docs/spec.md").read_text() == "mine\n"
        if code == 0:
            break
    assert at > 8


def test_a_kill_while_a_file_is_recovered_keeps_the_broken_bytes_once(memory: Path) -> None:
    template = memory / "template"
    Records.init(template, {"state.json": "{}\n"}, "project: p")
    (template / "state.json").write_text("{torn")
    for at in range(1, 200):
        place = memory / f"at-{at}"
        shutil.copytree(template, place, symlinks=True)

        def work(place: Path = place, at: int = at) -> None:
            dying(at, after=False)
            Records.open(place).take_in()

        code = in_child(work)
        Records.open(place).take_in()
        assert (place / "state.json").read_text() == "{}\n"
        assert [p.read_text() for p in sorted(place.glob("*.broken-*"))] == ["{torn"]
        if code == 0:
            break
    assert at > 8


def test_a_note_that_cannot_be_understood_stops_nothing(template: Path) -> None:
    note = template / ".git" / pending.FILE
    note.write_bytes(b"{torn")
    assert Records.open(template).update(lambda _: CHANGE, "spec: new")
    assert not note.exists()


def test_a_live_writer_is_waited_for(template: Path) -> None:
    """The note of a write that is under way in another process is not taken for a crash."""
    slow = subprocess.Popen(["flock", str(template / ".git/forge/records.lock"), "sleep", "0.3"])
    try:
        while not _held(template / ".git/forge/records.lock"):
            pass
        assert Records.open(template).update(lambda _: CHANGE, "spec: new")
        assert slow.poll() is not None or slow.wait(timeout=1) == 0
    finally:
        if slow.poll() is None:
            slow.send_signal(signal.SIGKILL)
        slow.wait()


def _held(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
