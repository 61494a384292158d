"""Opening, saving, reading and listing, against worktrees and git."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, Row, compare
from forge.git import Repository
from tests.support.sample_repositories import World, path_of

_SYNCED = ("-c", "core.fsync=all", "-c", "gc.auto=0")
_numbers = itertools.count()


def opening(world: World) -> Iterator[Row | Figure]:
    """A new branch, ready to read its first file."""
    repo = Repository.open(world.path)
    first = path_of(0, world.count)

    def ours(_: int) -> None:
        name = f"open/{next(_numbers)}"
        repo.create_branch(name, "main")
        repo.workspace(name).read_bytes(first)

    def theirs(n: int) -> None:
        (world.worktree(f"open{n}") / first).read_bytes()

    goal = {"1k": 100, "10k": 1_000, "100k": 10_000}[world.name]
    rounds = 5 if world.count <= 10_000 else 2
    repo.workspace("main").read_bytes(first)
    yield compare(
        "open a new branch", "`git worktree add`", world.name, ours, theirs, rounds=rounds, goal=goal, repeat_ours=20
    )
    repo.create_branch("opened", "main")

    def reopen(_: int) -> None:
        repo.workspace("opened").read_bytes(first)

    for n in range(rounds):
        subprocess.run(["git", "branch", f"reopened{n}", "main"], cwd=world.path, check=True)

    def worktree_of_existing(n: int) -> None:
        place = world.scratch / f"reopen{n}"
        world.git("worktree", "add", "-q", str(place), f"reopened{n}")
        (place / first).read_bytes()

    yield compare(
        "open an existing branch",
        "`git worktree add`",
        world.name,
        reopen,
        worktree_of_existing,
        rounds=rounds,
        goal=goal,
        repeat_ours=50,
    )
    before = _disk(world.path / ".git")
    for n in range(50):
        repo.create_branch(f"disk/{n}", "main")
        repo.workspace(f"disk/{n}").read_bytes(first)
    yield Figure(
        "disk for 50 open branches", world.name, (_disk(world.path / ".git") - before) / 1024, "KiB", 10 * 1024
    )


def saving(world: World) -> Iterator[Row]:
    """Durable commits of one file and of a hundred."""
    repo = Repository.open(world.path)
    tree = world.worktree("save")
    repo.create_branch("save", "main")
    workspace = repo.workspace("save")
    for files, goal in ((1, {"1k": 4, "10k": 10, "100k": 80}[world.name]), (100, 3)):
        paths = [path_of(n * 7 % world.count, world.count) for n in range(files)]

        def ours(_: int, paths: list[str] = paths) -> None:
            for path in paths:
                workspace.write_file(path, f"value = {next(_numbers)}\n")
            workspace.commit("bench: save")

        def theirs(_: int, paths: list[str] = paths) -> None:
            for path in paths:
                (tree / path).write_text(f"value = {next(_numbers)}\n")
            world.git(*_SYNCED, "add", *paths, cwd=tree)
            world.git(*_SYNCED, "commit", "-qm", "bench: save", cwd=tree)

        label = "save one file" if files == 1 else f"save {files} files"
        yield compare(label, "`git add && git commit`, synced", world.name, ours, theirs, rounds=7, goal=goal)


def reading(world: World) -> Iterator[Row]:
    """One file by path, warm."""
    view = Repository.open(world.path).commit_vfs("main")
    tree = world.worktree("read")
    path = path_of(41, world.count)
    file = str(tree / path)

    def ours(_: int) -> None:
        view.read_bytes(path)

    def worktree_open(_: int) -> None:
        for _ in range(1000):
            with open(file, "rb") as opened:
                opened.read()

    ours(0)
    worktree_open(0)
    row = compare(
        "read a file, warm",
        "`open()` in a worktree",
        world.name,
        ours,
        worktree_open,
        rounds=7,
        goal=1,
        repeat_ours=1000,
    )
    yield Row(row.what, row.against, row.size, row.ours, row.theirs / 1000, row.goal)

    def show(_: int) -> None:
        world.git("show", f"main:{path}")

    yield compare("read a file, warm", "`git show`", world.name, ours, show, rounds=7, repeat_ours=1000)


def listing(world: World) -> Iterator[Row]:
    """Every path, cold and after a change."""

    def theirs(_: int) -> None:
        world.git("ls-tree", "-r", "--name-only", "-z", "main").split(b"\0")

    def cold(_: int) -> None:
        Repository.open(world.path).commit_vfs("main").list_files()

    yield compare("list files, cold", "`git ls-tree -r`", world.name, cold, theirs, rounds=7, goal=1 / 1.2)
    repo = Repository.open(world.path)
    repo.create_branch("list", "main")
    workspace = repo.workspace("list")
    workspace.list_files()
    changed = [path_of(n * 3 % world.count, world.count) for n in range(7)]
    commits = []
    for path in changed:
        workspace.write_file(path, "changed = True\n")
        commits.append(workspace.commit("bench: list"))

    def after_change(n: int) -> None:
        repo.commit_vfs(commits[n]).list_files()

    yield compare("list files after a change", "`git ls-tree -r`", world.name, after_change, theirs, rounds=7, goal=2)


def _disk(folder: Path) -> int:
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*"))
