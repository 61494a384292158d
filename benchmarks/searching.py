"""Searching a commit: cold, warm and right after a commit, against git grep and ripgrep."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import time
from collections.abc import Iterator

from benchmarks.timing import Figure, Row, compare
from forge.git import Query, Repository
from forge.git.search.cache_fill import warm
from tests.support.sample_repositories import RARE, World, path_of

_numbers = itertools.count()
_COMMON = "def invoice_"
"""It stands in about one file of eight."""


def searching(world: World) -> Iterator[Row | Figure]:
    tree = world.worktree("search")
    rounds = 5 if world.count <= 10_000 else 3

    def git_grep(pattern: str) -> int:
        return len(world.git("grep", "-n", "-F", "-e", pattern, "main").splitlines())

    def ripgrep(pattern: str) -> int:
        done = subprocess.run(
            ["rg", "-n", "-F", "--no-config", pattern, "."], cwd=tree, capture_output=True, check=True
        )
        return len(done.stdout.splitlines())

    def ours(repo: Repository, rev: str, pattern: str) -> int:
        return repo.search(repo.commit_vfs(rev), Query(pattern, max_matches=10**9)).collected().matches

    def cold(_: int) -> None:
        shutil.rmtree(world.path / ".git" / "forge" / "search", ignore_errors=True)
        ours(Repository.open(world.path), "main", RARE)

    yield compare(
        "search, cold", "`git grep <sha>`", world.name, cold, lambda _: git_grep(RARE), rounds=rounds, goal=1 / 1.2
    )
    repo = Repository.open(world.path)
    yield _built(world, repo)
    _same(ours(repo, "main", RARE), git_grep(RARE))
    for pattern, kind in ((RARE, "rare word"), (_COMMON, "common phrase")):
        goal_git, goal_rg = 10, 2
        _same(ours(repo, "main", pattern), git_grep(pattern))
        yield compare(
            f"search, warm, {kind}",
            "`git grep <sha>`",
            world.name,
            lambda _, p=pattern: ours(repo, "main", p),
            lambda _, p=pattern: git_grep(p),
            rounds=rounds,
            goal=goal_git,
        )
        if shutil.which("rg"):
            yield compare(
                f"search, warm, {kind}",
                "`rg` in a worktree",
                world.name,
                lambda _, p=pattern: ours(repo, "main", p),
                lambda _, p=pattern: ripgrep(p),
                rounds=rounds,
                goal=goal_rg,
            )
    repo.create_branch("searched", "main")
    workspace = repo.workspace("searched")
    commits = []
    for n in range(rounds):
        workspace.write_file(path_of(n * 11, world.count), f"{RARE}_{n} = {next(_numbers)}\n")
        commits.append(workspace.commit("bench: search"))

    def after_commit(n: int) -> None:
        ours(repo, commits[n], RARE)

    yield compare(
        "search right after a commit",
        "`git grep <sha>`",
        world.name,
        after_commit,
        lambda n: world.git("grep", "-n", "-F", "-e", RARE, commits[n]),
        rounds=rounds,
        goal=10,
    )


def _built(world: World, repo: Repository) -> Figure:
    start = time.perf_counter()
    warm(repo.objects, repo.commit("main").tree)
    return Figure("fill the search cache, once, in the background", world.name, time.perf_counter() - start, "s")


def _same(ours: int, theirs: int) -> None:
    if ours != theirs:
        raise AssertionError(f"search found {ours} lines, git grep {theirs}")
