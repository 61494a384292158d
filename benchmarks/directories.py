"""Real directories for commands: first time, again after a change, and finding what changed."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator

from benchmarks.timing import Row, compare
from forge.git import Repository
from tests.support.sample_repositories import World, path_of

_numbers = itertools.count()
_CHANGED = 20


def directories(world: World) -> Iterator[Row]:
    if world.count > 10_000:
        return
    repo = Repository.open(world.path)
    root = world.scratch / "directories"

    def first(_: int) -> None:
        name = f"directory/{next(_numbers)}"
        repo.create_branch(name, "main")
        with repo.materialize(repo.workspace(name), root=root):
            pass

    def worktree(n: int) -> None:
        world.worktree(f"first{n}")

    rounds = 3 if world.count >= 10_000 else 5
    yield compare(
        "materialise, first time", "`git worktree add`", world.name, first, worktree, rounds=rounds, goal=1 / 1.2
    )
    yield from _again(world, repo)


def _again(world: World, repo: Repository) -> Iterator[Row]:
    """Two commits that differ in a few files, shown in turns."""
    root = world.scratch / "directories"
    repo.create_branch("again", "main")
    workspace = repo.workspace("again")
    for n in range(_CHANGED):
        workspace.write_file(path_of(n * 13 % world.count, world.count), f"changed = {n}\n")
    other = workspace.commit("bench: twenty files")
    views = [repo.commit_vfs("main"), repo.commit_vfs(other)]
    tree = world.worktree("again")
    for view in views:
        with repo.materialize(view, root=root):
            pass

    def ours(n: int) -> None:
        with repo.materialize(views[n % 2], root=root):
            pass

    def checkout(n: int) -> None:
        world.git("checkout", "-q", "--detach", ("main", other)[n % 2], cwd=tree)

    yield compare(
        f"materialise after {_CHANGED} files changed", "`git checkout`", world.name, ours, checkout, rounds=8, goal=4
    )

    def worktree(n: int) -> None:
        world.worktree(f"again-new{n}")

    yield compare(
        f"materialise after {_CHANGED} files changed",
        "`git worktree add`",
        world.name,
        ours,
        worktree,
        rounds=3,
        goal=100,
    )
    workspace = repo.workspace("again")
    with repo.materialize(workspace, root=root) as directory:

        def change(place: str, n: int) -> None:
            subprocess.run(["sh", "-c", f"echo {n} > {place}/{path_of(n, world.count)}"], check=True)

        def collect(n: int) -> None:
            change(str(directory), n)
            if len(directory.collect_changes()) != 1:
                raise AssertionError("one file was changed")

        def status(n: int) -> None:
            change(str(tree), n)
            world.git("status", "--porcelain", cwd=tree)

        yield compare(
            "find what a command changed", "`git status`", world.name, collect, status, rounds=7, goal=1 / 1.3
        )
