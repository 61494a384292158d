"""Many at once: processes and threads on the same and on other branches, while git cleans up behind them."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge.git import BranchMoved, Repository
from tests.support.repositories import repository
from tests.support.soak import evidence, rivals
from tests.support.soak.nursery import Landed, Nursery

pytestmark = pytest.mark.req("G-09", "X-04")

EIGHT = [f"ai/{number}" for number in range(8)]


@pytest.mark.slow
def test_8_processes_on_8_branches_lose_nothing_to_gc_prune_now(tmp_path: Path) -> None:
    place = repository(tmp_path, *EIGHT)
    run = rivals.writers_while_cleaning(
        place, EIGHT, seconds=4, cleaners=["gc --prune=now"], kills=3, seed=time.time_ns()
    )
    assert run.acknowledged > 50
    assert run.cleanings - sum(run.complaints.values()) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("cleaner", ["gc", "repack -ad", "pack-refs"])
def test_no_other_way_of_cleaning_up_loses_anything(tmp_path: Path, cleaner: str) -> None:
    place = repository(tmp_path, *EIGHT)
    run = rivals.writers_while_cleaning(place, EIGHT[:3], seconds=2, cleaners=[cleaner])
    assert run.acknowledged > 10
    assert run.cleanings - sum(run.complaints.values()) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("cleaner", ["gc --prune=now", "pack-refs"])
def test_2_processes_on_one_branch_never_overwrite_each_other(tmp_path: Path, cleaner: str) -> None:
    place = repository(tmp_path, "ai/both")
    run = rivals.writers_while_cleaning(
        place, ["ai/both", "ai/both"], seconds=2, cleaners=[cleaner], kills=2, seed=time.time_ns()
    )
    assert run.acknowledged > 10
    assert run.lost_races > 0


@pytest.mark.slow
def test_branches_made_renamed_rewound_deleted_and_brought_back_survive_cleaning_up(tmp_path: Path) -> None:
    place = repository(tmp_path)
    run = rivals.writers_while_cleaning(
        place,
        ["main", "main", "main"],
        seconds=4,
        cleaners=["pack-refs", "gc --prune=now"],
        work="branches",
        kills=2,
        seed=time.time_ns(),
    )
    assert run.operations > run.acknowledged > 10


def test_of_two_processes_that_make_a_branch_one_wins(tmp_path: Path) -> None:
    place = repository(tmp_path, "ai/a", "ai/b")
    with Nursery() as nursery:
        both = [nursery.start(place, name, f"ai/{name}", work="makers", count=60) for name in "ab"]
        for writer in both:
            writer.wait()
    assert not nursery.failures
    made = [one for one in nursery.landed if one.branch.startswith("raced/")]
    assert Counter(one.branch for one in made) == Counter(f"raced/{number}" for number in range(60))
    wrong = [one for one in made if tip(place, one.branch) != one.commit]
    assert wrong == []
    evidence.assert_log_tells_all(place)


def test_two_first_commits_of_a_repository_do_not_overwrite_each_other(tmp_path: Path) -> None:
    place = tmp_path / "repo"
    Repository.init(place, bare=True)
    first, second = (Repository.open(place).workspace("main") for _ in range(2))
    for name, workspace in (("first", first), ("second", second)):
        workspace.write_file(f"{name}.txt", name)
    first.commit("first")
    with pytest.raises(BranchMoved):
        second.commit("second")
    second.catch_up()
    second.commit("second")
    assert Repository.open(place).commit_vfs("main").list_files() == ["first.txt", "second.txt"]


@pytest.mark.parametrize("shared", [True, False], ids=["one repository", "a repository each"])
def test_threads_work_on_branches_of_their_own(tmp_path: Path, shared: bool) -> None:
    place = repository(tmp_path, "ai/0", "ai/1")
    opened = Repository.open(place)

    def work(branch: str) -> list[Landed]:
        workspace = (opened if shared else Repository.open(place)).workspace(branch)
        return [saved(workspace, branch, f"{branch} {number}") for number in range(25)]

    landed = in_threads(work, ["ai/0", "ai/1"])
    for branch in ("ai/0", "ai/1"):
        evidence.assert_nothing_lost(place, landed, branch)
    evidence.assert_sound(place)
    evidence.assert_log_tells_all(place)


@pytest.mark.parametrize("shared", [True, False], ids=["one repository", "a repository each"])
def test_threads_on_one_branch_never_overwrite_each_other(tmp_path: Path, shared: bool) -> None:
    place = repository(tmp_path, "ai/both")
    opened = Repository.open(place)

    def work(name: str) -> list[Landed]:
        workspace = (opened if shared else Repository.open(place)).workspace("ai/both")
        landed: list[Landed] = []
        while len(landed) < 15:
            try:
                landed.append(saved(workspace, "ai/both", f"{name} {len(landed)}", file=name))
            except BranchMoved:
                workspace.catch_up()
        return landed

    landed = in_threads(work, ["a", "b"])
    assert evidence.assert_nothing_lost(place, landed, "ai/both") == 31
    evidence.assert_sound(place)
    evidence.assert_log_tells_all(place)


def test_readers_see_whole_commits_while_packs_come_and_go(tmp_path: Path) -> None:
    place = repository(tmp_path, "ai/0")
    reader = Repository.open(place)
    with Nursery() as nursery, rivals.cleaning(place, ["repack -ad", "gc --prune=now"]) as cleaned:
        writer = nursery.start(place, "w", "ai/0", seconds=2)
        seen = 0
        while not writer.ended.is_set() or cleaned.runs < 2:
            files = reader.commit_vfs("ai/0")
            assert all(files.read_bytes(path) for path in files.list_files())
            seen += 1
    assert not nursery.failures
    assert seen > 10
    assert len(writer.landed) > 5


def test_a_tip_that_is_kept_can_be_found_by_a_gc_that_reads_refs_at_the_wrong_moment(tmp_path: Path) -> None:
    """git reads all refs and then all reflogs. It may have read the kept refs before ours was made and the
    branches after ours was deleted; then only a reflog is left to tell it of the commit.
    """
    place = tmp_path / "repo"
    repo = Repository.init(place, bare=True)  # where git itself writes no reflogs
    for text in ("one", "two"):
        workspace = repo.workspace("main")
        workspace.write_file("file.txt", text)
        workspace.commit(text)
    repo.create_branch("gone", "main")
    workspace = repo.workspace("gone")
    workspace.write_file("file.txt", "three")
    kept = workspace.commit("three")
    repo.delete_branch("gone")
    assert kept in evidence.git(place, "rev-list", "--reflog").split()
    with without_refs(place, "refs/forge"):
        assert kept not in evidence.git(place, "rev-list", "--all").split()
        evidence.git(place, "gc", "--quiet", "--prune=now")
    assert Repository.open(place).commit_vfs(kept).read_file("file.txt") == "three"
    evidence.assert_sound(place)


def test_a_branch_that_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    """`git pack-refs` reads the refs, writes them down and lets go; what is deleted meanwhile must stay deleted."""
    place = repository(tmp_path)
    repo = Repository.open(place)
    with rivals.cleaning(place, ["pack-refs"]) as cleaned:
        number = 0
        while cleaned.runs < 10 or number < 40:
            repo.create_branch(f"ai/{number}", "main")
            repo.create_branch(f"stays/{number}", "main")
            repo.delete_branch(f"ai/{number}")
            number += 1
    names = evidence.git(place, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split()
    assert set(names) == {"main", *(f"stays/{n}" for n in range(number))}


@pytest.mark.parametrize("others", [(), ("a", "ai/z", "zz")])
def test_a_branch_that_is_brought_back_is_not_taken_for_one_that_was_packed(
    tmp_path: Path, others: tuple[str, ...]
) -> None:
    """`git pack-refs` writes refs down, and later removes each loose one that still has the value it wrote."""
    place = repository(tmp_path, "ai/x", *others)
    repo = Repository.open(place)
    evidence.git(place, "tag", "-a", "-m", "a tag", "v1", "main")
    evidence.git(place, "pack-refs", "--all", "--no-prune")
    before = evidence.git(place, "for-each-ref", "refs/heads", "refs/tags")
    repo.delete_branch("ai/x")
    assert "ai/x\n" not in evidence.git(place, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
    repo.undo()
    (place / ".git/refs/heads/ai/x").unlink(missing_ok=True)  # as git does it, after it compared the value
    assert evidence.git(place, "for-each-ref", "refs/heads", "refs/tags") == before
    evidence.git(place, "pack-refs", "--all")
    assert evidence.git(place, "for-each-ref", "refs/heads", "refs/tags") == before
    evidence.assert_sound(place)
    evidence.assert_log_tells_all(place)


def saved(workspace: object, branch: str, subject: str, file: str = "file.txt") -> Landed:
    workspace.write_file(file, subject)  # type: ignore[attr-defined]
    return Landed(workspace.commit(subject), subject, branch)  # type: ignore[attr-defined]


def in_threads(work: Callable[[str], list[Landed]], names: list[str]) -> list[Landed]:
    start = threading.Barrier(len(names))

    def begin(name: str) -> list[Landed]:
        start.wait()
        return work(name)

    with ThreadPoolExecutor(len(names)) as pool:
        return [one for landed in pool.map(begin, names) for one in landed]


def tip(place: Path, branch: str) -> str:
    return evidence.git(place, "rev-parse", f"refs/heads/{branch}").strip()


@contextmanager
def without_refs(place: Path, prefix: str) -> Iterator[None]:
    listed = evidence.git(place, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
    hidden = place / prefix
    aside = place / "aside"
    hidden.rename(aside)
    try:
        yield
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        aside.rename(hidden)
        assert evidence.git(place, "for-each-ref", "--format=%(objectname) %(refname)", prefix) == listed


def test_git_can_go_on_where_forge_has_worked(tmp_path: Path) -> None:
    place = repository(tmp_path, "ai/0")
    workspace = Repository.open(place).workspace("ai/0")
    for number in range(3):
        saved(workspace, "ai/0", f"forge {number}")
        evidence.git(place, "fetch", "--quiet", ".", "ai/0:ai/copy")
        evidence.git(place, "branch", "-f", "ai/copy", "ai/0~1")
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "tree"), "ai/0"], cwd=place, check=True)
    (tmp_path / "tree" / "git.txt").write_text("git\n")
    evidence.git(tmp_path / "tree", "add", "git.txt")
    evidence.git(tmp_path / "tree", "-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "-qm", "git")
    with pytest.raises(BranchMoved):
        saved(workspace, "ai/0", "too late")
    workspace.catch_up()
    saved(workspace, "ai/0", "in time")
    assert evidence.git(place, "log", "-2", "--format=%s", "ai/0").split("\n")[:2] == ["in time", "git"]
