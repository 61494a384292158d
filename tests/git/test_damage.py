"""Damaged branches: each is shown as damaged and hides no other, and nobody is shown git's own error text."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.app.repositories import branches
from forge.errors import ForgeError
from forge.git import MergeState, Query, Repository
from forge.git.errors import RevisionMissing
from tests.conftest import Git, MakeRepo
from tests.support.soak.hostile.interference import RAW_WORDS

pytestmark = [pytest.mark.req("G-01", "G-08", "X-04")]

DAMAGED = ("corrupt", "missing", "torn", "tree")


def _object(place: Path, oid: str) -> Path:
    return place / ".git/objects" / oid[:2] / oid[2:]


@pytest.fixture
def place(make_repo: MakeRepo, git: Git) -> Path:
    """Good branches among one whose commit is corrupt, one missing, one torn, one at a tree, one without its past."""
    place = make_repo({"a.txt": "hello\n"})
    git(place, "branch", "good")
    git(place, "branch", "zebra")
    for name in ("corrupt", "holed"):
        git(place, "switch", "--quiet", "-c", name, "main")
        for number in range(2):
            git(place, "commit", "--quiet", "--allow-empty", "-m", f"{name} {number}")
    corrupt, lost = (
        _object(place, git(place, "rev-parse", "corrupt")),
        _object(place, git(place, "rev-parse", "holed~1")),
    )
    git(place, "switch", "--quiet", "main")
    corrupt.chmod(0o644)
    corrupt.write_bytes(b"garbage")
    lost.unlink()
    heads = place / ".git/refs/heads"
    (heads / "missing").write_text("12345678" * 5 + "\n")
    (heads / "torn").write_text("")
    (heads / "tree").write_text(git(place, "rev-parse", "main^{tree}") + "\n")
    return place


def test_every_branch_is_listed_and_the_damaged_ones_say_so(place: Path) -> None:
    listed = {branch.name: branch for branch in Repository.open(place).branches()}
    assert sorted(listed) == sorted(["corrupt", "good", "holed", "main", "missing", "torn", "tree", "zebra"])
    assert {name: listed[name].damage is not None for name in listed} == {name: name in DAMAGED for name in listed}
    assert listed["torn"].damage == "Its file names no commit."
    assert listed["missing"].damage == "Its commit 123456781234 is not in the repository."
    assert len(branches.listed(Repository.open(place))) == 8


def test_one_damaged_branch_takes_no_merge_indicator_from_the_others(place: Path) -> None:
    found = Repository.open(place).merge_status(["good", *DAMAGED, "zebra"], "main")
    assert found["good"].state is MergeState.UP_TO_DATE
    assert found["zebra"].state is MergeState.UP_TO_DATE
    assert {found[name].state for name in DAMAGED} == {MergeState.DAMAGED}


def test_the_graph_shows_all_that_can_be_read(place: Path) -> None:
    rows = list(Repository.open(place).graph())
    assert [row.commit.subject for row in rows] == ["first"]
    assert set(rows[0].refs) >= {"refs/heads/main", "refs/heads/good", "refs/heads/zebra"}
    shutil.rmtree(place / ".git/refs/heads")
    (place / ".git/refs/heads").mkdir()
    assert list(Repository.open(place).graph()) == []


def test_a_kept_tip_that_is_gone_hides_no_other(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    repo.delete_branch("zebra")
    kept = place / ".git/refs/forge/kept"
    (kept / "aaa@123456781234").write_text("12345678" * 5 + "\n")
    assert [tip.name.split("@")[0] for tip in branches.kept(repo)] == ["zebra"]


def _error_of(ask: Callable[[], object]) -> ForgeError | None:
    try:
        ask()
    except ForgeError as e:
        return e
    return None


@pytest.mark.parametrize("name", [*DAMAGED, "holed"])
def test_what_a_damaged_branch_cannot_do_is_told_in_a_sentence(place: Path, name: str) -> None:
    repo = Repository.open(place)
    asked = [
        lambda: list(repo.log(name)),
        lambda: repo.diff("main", name),
        lambda: repo.search(repo.commit_vfs(name), Query("hello")).collected(),
        lambda: repo.perform(repo.preview_merge(name, "good")),
        lambda: repo.perform(repo.preview_rebase(name, "main")),
        lambda: repo.show(name),
        lambda: list(repo.blame("a.txt", name)),
        lambda: repo.workspace(name).list_files(),
        lambda: repo.rename_branch(name, f"{name}-2"),
    ]
    errors = [error for ask in asked if (error := _error_of(ask)) is not None]
    assert all(error.hint for error in errors)
    assert not [e.message for e in errors for raw in RAW_WORDS if raw in f"{e.message} {e.hint}"]
    assert len(errors) >= (1 if name == "holed" else 7)


@pytest.mark.parametrize("ask", ["log", "resolve", "new", "merge"])
def test_a_head_whose_branch_is_gone_is_told_from_an_empty_repository(make_repo: MakeRepo, git: Git, ask: str) -> None:
    place = make_repo({"a.txt": "hello\n"})
    git(place, "symbolic-ref", "HEAD", "refs/heads/gone")
    repo = Repository.open(place)
    asked = {
        "log": lambda: list(repo.log()),
        "resolve": lambda: repo.resolve("HEAD"),
        "new": lambda: repo.create_branch("x"),
        "merge": lambda: repo.preview_merge("main", "gone"),
    }
    with pytest.raises(RevisionMissing, match="HEAD names the branch gone, which has no commit") as refused:
        asked[ask]()
    assert "main" in (refused.value.hint or "")


def test_an_empty_repository_has_no_commit_yet(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo())
    assert list(repo.log()) == []
    with pytest.raises(RevisionMissing, match="There is no commit here yet"):
        repo.resolve("HEAD")
