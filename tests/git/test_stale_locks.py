"""Lock files that were left behind: Forge's own are recognised and removed, all others stay and are reported."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from forge.git import Repository
from forge.git.errors import IndexLocked, RefLocked
from forge.git.process import liveness, maintenance
from forge.git.refs import compare_and_swap, packed_refs
from tests.support.repositories import repository
from tests.support.soak import evidence
from tests.support.soak.nursery import ROOT

pytestmark = pytest.mark.req("X-04", "G-09")

RECOVERY = 5.0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return repository(tmp_path, "work", "other")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_and_swap, "_PATIENCE", 0.3)


def save(place: Path, branch: str = "work", text: str = "new") -> str:
    workspace = Repository.open(place).workspace(branch)
    workspace.write_file("file.txt", text)
    return workspace.commit(text)


def killed_holding_locks(place: Path, work: str) -> None:
    """Do `work` in a process that dies when it has taken a ref's lock."""
    script = (
        "import os, signal, sys\n"
        "from forge.git import Repository; from forge.git.refs import packed_refs, ref_files\n"
        "end = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "repo = Repository.open(sys.argv[1])\n" + work
    )
    done = subprocess.run([sys.executable, "-c", script, place], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def locks(place: Path) -> list[str]:
    git_dir = place / ".git"
    found = [path.relative_to(git_dir) for path in git_dir.rglob("*.lock")]
    return sorted(str(path) for path in found if path.parts[0] != "forge")


def unfinished(place: Path, ref: str, after: str, *, mark: str, age: float = 0) -> None:
    """A record such as a process leaves that dies while it moves `ref`."""
    before = evidence.git(place, "rev-parse", ref).strip()
    record = {
        "id": os.urandom(8).hex(),
        "time": time.time() - age,
        "actor": ["person", "person"],
        "reason": "died",
        "moves": [[ref, before, after]],
        "undoes": None,
        "by": mark,
    }
    with (place / ".git" / "forge" / "operations.jsonl").open("a") as log:
        log.write(json.dumps(record) + "\n")


@cache
def dead_mark() -> str:
    ended = subprocess.run(
        [sys.executable, "-c", "from forge.git.process.liveness import *; print(mark_of_this_process(), end='')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


# -- locks of dead Forge processes


@pytest.mark.parametrize("before", ["ref_files._write", "ref_files.RefLock.sync", "ref_files.RefLock.replace_ref"])
def test_the_lock_of_a_killed_process_that_made_a_branch_goes(place: Path, before: str) -> None:
    killed_holding_locks(place, f"{before} = end\nrepo.create_branch('ai/new', 'main')\n")
    assert locks(place) == ["refs/heads/ai/new.lock"]
    began = time.monotonic()
    Repository.open(place).create_branch("ai/new", "main")
    assert time.monotonic() - began < RECOVERY
    assert locks(place) == []
    evidence.assert_log_tells_all(place)


def test_the_locks_of_a_killed_process_that_deleted_a_branch_go(place: Path) -> None:
    killed_holding_locks(place, "packed_refs.remove = end\nrepo.delete_branch('work')\n")
    assert locks(place) == ["packed-refs.lock", "refs/heads/work.lock"]
    began = time.monotonic()
    Repository.open(place).delete_branch("work")
    assert time.monotonic() - began < RECOVERY
    assert locks(place) == []
    evidence.assert_log_tells_all(place)


_ENDS_AFTER = """
def ending(call):
    def called(*args, **options):
        made = call(*args, **options)
        if any("packed-refs.lock" in str(each) for each in args):
            end()
        return made
    return called
os.{call} = ending(os.{call})
repo.delete_branch("work")
"""


@pytest.mark.parametrize("call", ["open", "link"])
def test_a_process_that_is_killed_while_it_locks_packed_refs_is_in_nobodys_way(place: Path, call: str) -> None:
    killed_holding_locks(place, _ENDS_AFTER.format(call=call))
    began = time.monotonic()
    Repository.open(place).delete_branch("work")
    assert time.monotonic() - began < RECOVERY
    assert locks(place) == []
    if call == "link":
        save(place, "main")
        assert evidence.leftovers(place) == []
    evidence.assert_log_tells_all(place)


def test_packed_refs_are_locked_on_a_disk_without_hard_links(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refused)
    with packed_refs.locked(place / ".git", place / ".git" / "forge" / "tmp"):
        assert not liveness.died((place / ".git" / "packed-refs.lock").read_text())
        with (
            pytest.raises(FileExistsError),
            packed_refs.locked(place / ".git", place / ".git" / "forge" / "tmp"),
        ):
            pass
    assert locks(place) == []
    assert list((place / ".git" / "forge" / "tmp").iterdir()) == []


def test_a_lock_that_names_what_a_dead_process_wanted_goes_at_once(place: Path) -> None:
    wanted = "1" * 40
    unfinished(place, "refs/heads/work", wanted, mark=dead_mark())
    (place / ".git/refs/heads/work.lock").write_text(f"{wanted}\n")
    began = time.monotonic()
    save(place)
    assert time.monotonic() - began < 1.5
    assert locks(place) == []
    evidence.assert_log_tells_all(place)


def test_the_next_save_anywhere_removes_locks_of_the_dead(place: Path) -> None:
    wanted = "1" * 40
    unfinished(place, "refs/heads/other", wanted, mark=dead_mark())
    (place / ".git/refs/heads/other.lock").write_text(f"{wanted}\n")
    (place / ".git/packed-refs.lock").write_text(dead_mark())
    save(place, "work")
    assert locks(place) == []
    evidence.git(place, "branch", "-f", "other", "main")


def index_lock_of_the_dead(place: Path, age: float) -> Path:
    """What a machine leaves that stops while git brings the checkout of main along for Forge."""
    unfinished(place, "refs/heads/main", "1" * 40, mark=dead_mark(), age=age)
    lock = place / ".git/index.lock"
    lock.touch()
    os.utime(lock, (time.time() - age, time.time() - age))
    return lock


def changed_checkout(place: Path) -> bool:
    workspace = Repository.open(place).workspace("main")
    workspace.write_file("src/file-1.txt", "new\n")
    workspace.commit("new")
    return (place / "src/file-1.txt").read_text() == "new\n"


def test_a_locked_index_that_died_with_forge_is_unlocked(place: Path) -> None:
    lock = index_lock_of_the_dead(place, age=10)
    assert changed_checkout(place)
    assert not lock.exists()
    assert evidence.git(place, "status", "--porcelain") == ""


def test_a_locked_index_that_somebody_has_open_stays(place: Path) -> None:
    with index_lock_of_the_dead(place, age=10).open() as lock:
        with pytest.raises(IndexLocked):
            changed_checkout(place)
        assert Path(lock.name).exists()


def test_forges_own_lock_files_are_no_obstacle_without_a_holder(place: Path) -> None:
    for name in ("operations.lock", "checkout.lock", "stale.lock", "repack.lock"):
        (place / ".git" / "forge" / name).write_text("left behind")
    save(place)
    save(place, "main")
    evidence.assert_log_tells_all(place)


# -- locks of others


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("content", ["", "2" * 40])
def test_the_lock_of_an_unknown_program_stays_and_is_reported(place: Path, content: str) -> None:
    lock = place / ".git/refs/heads/work.lock"
    lock.write_text(content)
    os.utime(lock, (0, 0))
    before = evidence.git(place, "for-each-ref")
    with pytest.raises(RefLocked, match="locked refs/heads/work") as refused:
        save(place)
    assert str(lock) in refused.value.hint
    assert (lock.read_text(), evidence.git(place, "for-each-ref")) == (content, before)
    save(place, "other")
    lock.unlink()
    save(place)
    evidence.assert_log_tells_all(place)


@pytest.mark.usefixtures("impatient")
def test_the_lock_of_a_git_that_works_beside_a_dead_process_stays(place: Path) -> None:
    unfinished(place, "refs/heads/work", "1" * 40, mark=dead_mark())
    lock = place / ".git/refs/heads/work.lock"
    for content in ("", "2" * 40):
        lock.write_text(content)  # made just now: it may be a living git's
        with pytest.raises(RefLocked):
            save(place)
        assert lock.read_text() == content


@pytest.mark.usefixtures("impatient")
def test_the_lock_of_a_living_forge_process_stays(place: Path) -> None:
    wanted = "1" * 40
    unfinished(place, "refs/heads/work", wanted, mark=liveness.mark_of_this_process())
    (place / ".git/refs/heads/work.lock").write_text(wanted)
    with pytest.raises(RefLocked):
        save(place)
    assert locks(place) == ["refs/heads/work.lock"]


def test_a_lock_that_is_given_back_in_time_costs_only_time(place: Path) -> None:
    lock = place / ".git/refs/heads/work.lock"
    lock.touch()
    threading.Timer(0.4, lock.unlink).start()
    began = time.monotonic()
    save(place)
    assert 0.3 < time.monotonic() - began < RECOVERY


@pytest.mark.usefixtures("impatient")
def test_a_foreign_lock_on_packed_refs_stops_deleting_and_nothing_else(place: Path) -> None:
    lock = place / ".git/packed-refs.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    repo = Repository.open(place)
    before = evidence.git(place, "for-each-ref")
    for act in (lambda: repo.delete_branch("work"), lambda: repo.rename_branch("work", "new")):
        with pytest.raises(RefLocked, match="locked") as refused:
            act()
        assert str(lock) in refused.value.hint
    assert evidence.git(place, "for-each-ref") == before
    save(place)
    repo.create_branch("more", "main")
    assert lock.exists()
    lock.unlink()
    repo.delete_branch("work")
    evidence.assert_log_tells_all(place)


@pytest.mark.parametrize("name", ["HEAD.lock", "config.lock"])
def test_locks_on_what_forge_does_not_need_are_left_alone(place: Path, name: str) -> None:
    lock = place / ".git" / name
    lock.touch()
    save(place)
    save(place, "main")
    repo = Repository.open(place)
    repo.create_branch("new", "main")
    repo.delete_branch("work")
    assert locks(place) == [name]


def test_a_locked_index_stops_the_save_and_says_so(place: Path) -> None:
    (place / ".git/index.lock").touch()
    before = evidence.git(place, "rev-parse", "main")
    workspace = Repository.open(place).workspace("main")
    workspace.write_file("src/file-1.txt", "new\n")
    with pytest.raises(IndexLocked, match="locked the index") as refused:
        workspace.commit("new")
    assert "index.lock" in refused.value.hint
    assert evidence.git(place, "rev-parse", "main") == before
    assert (place / "src/file-1.txt").read_text() == "1\n"


# -- who is dead


def test_a_process_is_dead_when_it_is_gone_or_only_its_shell_is_left() -> None:
    assert not liveness.died(liveness.mark_of_this_process())
    assert liveness.died(dead_mark())
    script = "from forge.git.process.liveness import *; print(mark_of_this_process(), flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdin is not None
    mark = child.stdout.readline()
    assert not liveness.died(mark)
    child.kill()
    deadline = time.monotonic() + 10
    while not liveness.died(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert liveness.died(mark)  # though nobody has waited for it yet
    child.communicate()


@pytest.mark.parametrize("mark", ["", "{}", "[]", "nonsense", "fetch-pack 123 on host", '{"forge": 1}', '{"pid": 1}'])
def test_a_mark_that_is_not_forges_tells_nothing(mark: str) -> None:
    assert not liveness.died(mark, age=1e9)


def test_a_process_elsewhere_counts_as_alive_for_a_while() -> None:
    here = json.loads(dead_mark())
    rebooted = json.dumps(here | {"boot": "another"})
    container = json.dumps(here | {"space": "pid:[1]"})
    machine = json.dumps(here | {"boot": "another", "machine": "another"})
    assert liveness.died(rebooted)
    for elsewhere in (container, machine):
        assert not liveness.died(elsewhere)
        assert not liveness.died(elsewhere, age=60)
        assert liveness.died(elsewhere, age=7200)


def test_a_sweep_can_be_tried_first(place: Path) -> None:
    objects = Repository.open(place).objects
    assert maintenance.sweep(objects) == ()
    keep = objects.objects_dir / "pack" / f"pack-f0e6e001{'0' * 32}.keep"
    keep.write_text(dead_mark())
    lock = place / ".git/packed-refs.lock"
    lock.write_text(dead_mark())
    assert set(maintenance.sweep(objects, pretend=True)) == {keep, lock}
    assert keep.exists()
    assert set(maintenance.sweep(objects)) == {keep, lock}
    assert not keep.exists()
    assert not lock.exists()
