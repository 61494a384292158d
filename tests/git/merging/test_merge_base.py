"""Where histories meet: what `git merge-base --all` says, also far apart, crossed, shallow and with wrong clocks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from forge.git import CommitId, Repository
from forge.git.merging import merge_base
from forge.git.merging.merge_base import History, meeting, merge_bases
from tests.git import worlds
from tests.git.merging.lineages import Files, Lineage

pytestmark = pytest.mark.req("G-16")


def written(directory: Path, lineage: Lineage) -> tuple[Repository, list[CommitId]]:
    worlds.git(directory, "init", "--quiet", "--bare", ".")
    ids = lineage.write(directory)
    return Repository.open(directory), ids


def by_git(directory: Path, one: str, other: str) -> set[str]:
    return set(worlds.git(directory, "merge-base", "--all", one, other, ok=(0, 1)).decode().split())


def dag(seed: int, size: int, *, clocks: bool) -> Lineage:
    """Commits on one to three earlier ones, beside one that stays alone; clocks may run anywhere."""
    rng, lineage = random.Random(seed), Lineage()
    content: Files = {"f": (0o100644, b"")}
    lineage.commit("alone", content)
    for n in range(size):
        known = range(max(2, n - 5), n + 2)
        parents = (
            rng.sample(known, min(len(known), rng.choice((1, 1, 1, 2, 2, 3)))) if n and rng.random() > 0.05 else []
        )
        time = rng.randrange(1_000_000_000) if clocks else None
        lineage.commit(f"b{n}", content, *parents, time=time)
    return lineage


@pytest.mark.parametrize("clocks", [False, True], ids=["clocks right", "clocks wrong"])
def test_generated_histories_meet_where_git_says(tmp_path: Path, clocks: bool) -> None:
    repo, ids = written(tmp_path, dag(7, 60, clocks=clocks))
    rng = random.Random(1)
    counts = set()
    for _ in range(120):
        one, other = rng.choice(ids[1:]), rng.choice(ids[1:])
        found = merge_bases(repo.objects, one, other)
        assert set(found) == by_git(tmp_path, one, other)
        assert len(set(found)) == len(found)
        counts.add(len(found))
    assert {1, 2} <= counts
    assert merge_bases(repo.objects, ids[1], ids[-1]) == ()


@pytest.mark.parametrize("clocks", [False, True], ids=["clocks right", "clocks wrong"])
def test_the_commits_of_one_side_are_told_and_none_is_left_out(tmp_path: Path, clocks: bool) -> None:
    repo, ids = written(tmp_path, dag(11, 50, clocks=clocks))
    rng, history = random.Random(2), History(repo.objects)
    for _ in range(60):
        one, other = rng.choice(ids[1:]), rng.choice(ids[1:])
        # With wrong clocks `git rev-list A ^B` itself may list too many: take the difference ourselves.
        mine, others = (set(worlds.text(tmp_path, "rev-list", tip).split()) for tip in (one, other))
        told = meeting(history, one, other).only_one
        assert mine - others <= told if clocks else mine - others == told


def test_far_histories_are_left_to_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, ids = written(tmp_path, dag(3, 60, clocks=False))
    near = [meeting(History(repo.objects), ids[-1], other) for other in ids[1:]]
    monkeypatch.setattr(merge_base, "_NEAR", 3)
    far = [meeting(History(repo.objects), ids[-1], other) for other in ids[1:]]
    assert [(set(m.bases), m.only_one) for m in far] == [(set(m.bases), m.only_one) for m in near]


def test_a_shallow_clone_ends_where_it_was_cut(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir()
    lineage, content = Lineage(), {"f": (0o100644, b"")}
    root = lineage.commit("main", content)
    for branch in ("main", "topic"):
        tip = root
        for _ in range(3):
            tip = lineage.commit(branch, content, tip)
    written(whole, lineage)
    worlds.git(tmp_path, "clone", "--quiet", "--bare", "--depth=2", "--no-single-branch", f"file://{whole}", "cut")
    repo = Repository.open(cut)
    assert merge_bases(repo.objects, repo.resolve("main"), repo.resolve("topic")) == ()
    assert by_git(cut, "main", "topic") == set()
