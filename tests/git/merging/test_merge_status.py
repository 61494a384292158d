"""Indicators for many branches at once: right against git, and right again after the target moved."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forge.git import CommitId, Repository
from forge.git.merging.merge import preview_merge
from forge.git.merging.status import MergeState, MergeStatus, MergeStatusCache, merge_status
from forge.git.process.git_command import Git
from tests.git import worlds
from tests.git.merging.lineages import COMMITTER, Author, Files, Lineage, git_verdicts

pytestmark = pytest.mark.req("G-16")

TEXT = b"one\ntwo\nthree\nfour\nfive\n"
CLEAN = MergeStatus(MergeState.CLEAN)


def written(directory: Path, lineage: Lineage) -> tuple[Repository, list[CommitId]]:
    directory.mkdir(exist_ok=True)
    worlds.git(directory, "init", "--quiet", "--bare", ".")
    ids = lineage.write(directory)
    return Repository.open(directory), ids


def files(**contents: bytes) -> Files:
    return {path: (0o100644, data) for path, data in contents.items()}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the commands for which git was started."""
    counts: Counter[str] = Counter()
    run = Git.run

    def counted(self: Git, *args: str, **options: Any) -> object:
        counts[next(word for word in args if not word.startswith("-") and "=" not in word)] += 1
        return run(self, *args, **options)

    monkeypatch.setattr(Git, "run", counted)
    return counts


def generated(seed: int, branches: int, moves: int) -> tuple[Lineage, list[str], list[str]]:
    """Branches that start anywhere on main, some up to date or crossed, and main moving on step by step."""
    author, lineage = Author(f"status {seed}", sessions=bool(seed % 2)), Lineage()
    trunk = [author.first()]
    main = [lineage.commit("main", trunk[0])]
    for _ in range(3):
        trunk.append(author.changed(trunk[-1], 1))
        main.append(lineage.commit("main", trunk[-1], main[-1]))
    names = []
    for n in range(branches):
        names.append(f"b{n}")
        start = author.random.randrange(len(main))
        content, tip = trunk[start], main[start]
        for _ in range(author.random.randrange(3)):
            content = author.changed(content, 1)
            tip = lineage.commit(names[-1], content, tip)
        if n % 9 == 0:
            content = author.changed(author.joined(content, trunk[-2]), 1)
            tip = lineage.commit(names[-1], content, tip, main[-2])
        if tip in main:
            lineage.commit(names[-1], author.changed(content, 1), tip)
    targets = [f"moved{n}" for n in range(moves)]
    tip, content = main[-1], trunk[-1]
    for target in targets:
        content = author.changed(content, author.random.randrange(1, 3))
        tip = lineage.commit(target, content, tip)
    return lineage, names, targets


@pytest.mark.parametrize("seed", range(12))
def test_indicators_are_right_and_stay_right_while_the_target_moves(tmp_path: Path, seed: int) -> None:
    lineage, names, targets = generated(seed, 20, 4)
    repo, _ = written(tmp_path / "repo", lineage)
    tips = {name: repo.resolve(name) for name in names}
    cache = MergeStatusCache()
    for target in ("main", *targets):
        found = merge_status(repo.objects, tips, repo.resolve(target), cache=cache)
        for (name, status), verdict in zip(
            found.items(), git_verdicts(repo.git_dir, [(target, name) for name in names]), strict=True
        ):
            if verdict is not None and status.state in (MergeState.CLEAN, MergeState.CONFLICTS):
                paths = {path for path in verdict.paths if not path.startswith(".forge/session")}
                conflicts = bool(paths) or not (verdict.clean or verdict.paths)
                assert status.state == (MergeState.CONFLICTS if conflicts else MergeState.CLEAN), (target, name)
                # Where a file must step aside for a folder git appends the name of its branch.
                assert set(status.paths) == {path.split("~")[0] for path in paths}, (target, name)
        assert merge_status(repo.objects, tips, repo.resolve(target)) == found, "with and without memory"


def test_indicators_agree_with_previews(tmp_path: Path) -> None:
    lineage, names, _ = generated(99, 30, 0)
    repo, _ = written(tmp_path / "repo", lineage)
    found = merge_status(repo.objects, {name: repo.resolve(name) for name in names}, repo.resolve("main"))
    for name, status in found.items():
        preview = preview_merge(
            repo.objects, repo.refs, repo.resolve(name), "main", committer=COMMITTER, source_name=name
        )
        assert preview.outcome == status.state
        staged = [c for c in preview.conflicts if c.base or c.ours or c.theirs]
        assert set(status.paths) == {conflict.path.split("~")[0] for conflict in staged}
    assert len({status.state for status in found.values()}) > 1


def test_every_relation_has_its_word(tmp_path: Path) -> None:
    lineage = Lineage()
    root = lineage.commit("old", files(f=TEXT))
    main = lineage.commit("main", files(f=TEXT.replace(b"two", b"2")), root)
    lineage.commit("ahead", files(f=TEXT), main)
    lineage.commit("free", files(f=TEXT, g=b""), root)
    lineage.commit("edits", files(f=TEXT + b"six\n"), root)
    lineage.commit("clash", files(f=TEXT.replace(b"two", b"II")), root)
    lineage.commit("stranger", files(f=TEXT))
    repo, _ = written(tmp_path / "repo", lineage)
    tips = {name: tip for name, tip in repo.refs.branches() if name != "main"}
    assert merge_status(repo.objects, tips, repo.resolve("main")) == {
        "old": MergeStatus(MergeState.UP_TO_DATE),
        "ahead": MergeStatus(MergeState.FAST_FORWARD),
        "free": CLEAN,
        "edits": CLEAN,
        "clash": MergeStatus(MergeState.CONFLICTS, ("f",)),
        "stranger": MergeStatus(MergeState.UNRELATED),
    }
    assert merge_status(repo.objects, {}, repo.resolve("main")) == {}


def many(directory: Path) -> tuple[Repository, dict[str, CommitId], list[CommitId]]:
    """Forty branches: half add files of their own, half edit a file that main edits too, two of them clashing."""
    lineage = Lineage()
    base = files(shared=TEXT, far=TEXT, **{f"f{n}": TEXT for n in range(40)})
    root = lineage.commit("main", base)
    ours = base | files(shared=b"0\n" + TEXT)
    moved = [lineage.commit("main", ours, root)]
    for n in range(40):
        line = b"clash\n" if n in (1, 3) else b""
        change = files(shared=line + TEXT + b"%d\n" % n) if n % 2 else files(**{f"f{n}": b"own\n"}, new=b"")
        lineage.commit(f"b{n}", base | change, root)
    moved.append(lineage.commit("main", ours | files(far=b"elsewhere\n"), moved[-1]))
    moved.append(lineage.commit("main", ours | files(far=b"again\n", f0=b"as b0 does\n"), moved[-1]))
    repo, ids = written(directory, lineage)
    return repo, {f"b{n}": repo.resolve(f"b{n}") for n in range(40)}, [ids[n] for n in moved]


def test_after_the_target_moved_elsewhere_nothing_is_asked_again(tmp_path: Path, asked: Counter[str]) -> None:
    repo, tips, (first, second, third) = many(tmp_path / "repo")
    cache = MergeStatusCache()
    found = merge_status(repo.objects, tips, first, cache=cache)
    assert {name for name, status in found.items() if status.state == MergeState.CONFLICTS} == {"b1", "b3"}
    assert asked["merge-tree"] in (1, 2), "one process, or two beside each other, for all that need git"
    asked.clear()
    assert merge_status(repo.objects, tips, second, cache=cache) == found
    assert not asked
    after = merge_status(repo.objects, tips, third, cache=cache)
    assert after == merge_status(repo.objects, tips, third)
    assert {name for name in tips if after[name] != found[name]} == {"b0"}


def test_a_target_that_was_rewound_or_replaced_is_judged_anew(tmp_path: Path) -> None:
    repo, tips, (first, second, third) = many(tmp_path / "repo")
    cache = MergeStatusCache()
    for target in (third, first, second, tips["b5"], first, third):
        assert merge_status(repo.objects, tips, target, cache=cache) == merge_status(repo.objects, tips, target)


def test_a_branch_that_was_merged_meanwhile_is_up_to_date(tmp_path: Path) -> None:
    repo, tips, (first, *_) = many(tmp_path / "repo")
    cache = MergeStatusCache()
    merge_status(repo.objects, tips, first, cache=cache)
    worlds.git(repo.git_dir, "update-ref", "refs/heads/main", first)
    repo.perform(repo.preview_merge("b2", "main"))
    merged = repo.resolve("main")
    found = merge_status(repo.objects, tips, merged, cache=cache)
    assert found["b2"] == MergeStatus(MergeState.UP_TO_DATE)
    assert found == merge_status(repo.objects, tips, merged)


def test_a_merge_on_which_git_aborts_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    lineage = Lineage()
    base: Files = {"a/b/y": (0o100644, TEXT), "a/w": (0o100644, TEXT * 2), "f": (0o100644, TEXT)}
    root = lineage.commit("main", base)
    lineage.commit("main", {"a/b": base["a/b/y"], "a/w": base["a/w"], "f": (0o100644, b"0\n" + TEXT)}, root)
    lineage.commit("bad", {"n/b/y": base["a/b/y"], "n/w": base["a/w"], "f": base["f"]}, root)
    for n in range(4):
        lineage.commit(f"good{n}", base | files(f=TEXT + b"%d\n" % n), root)
    repo, _ = written(tmp_path / "repo", lineage)
    tips = {name: tip for name, tip in repo.refs.branches() if name != "main"}
    found = merge_status(repo.objects, tips, repo.resolve("main"))
    assert [found[f"good{n}"] for n in range(4)] == [CLEAN] * 4
    assert found["bad"].state in (MergeState.CLEAN, MergeState.CONFLICTS)


def test_nothing_is_written(tmp_path: Path) -> None:
    repo, tips, (first, *_) = many(tmp_path / "repo")
    before = sorted(repo.git_dir.rglob("*"))
    merge_status(repo.objects, tips, first)
    assert sorted(repo.git_dir.rglob("*")) == before
