"""Merge previews and indicators for many branches, against git merge-tree."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.timing import Row, compare
from forge.git import MergeState, Repository
from tests.support.sample_repositories import World, path_of

_BRANCHES = 200


def merging(world: World) -> Iterator[Row]:
    repo = Repository.open(world.path)
    names = _branches(world, repo)

    def preview(n: int) -> None:
        repo.preview_merge(names[n], "merged-into")

    def merge_tree(n: int) -> None:
        world.git("merge-tree", "--write-tree", "merged-into", names[n])

    yield compare("preview a merge", "`git merge-tree`", world.name, preview, merge_tree, rounds=15, goal=1.5)

    def cold(_: int) -> None:
        states = Repository.open(world.path).merge_status(names, "merged-into")
        if {status.state for status in states.values()} != {MergeState.CLEAN}:
            raise AssertionError("every branch merges cleanly")

    def each(_: int) -> None:
        for name in names:
            world.git("merge-tree", "--write-tree", "merged-into", name)

    yield compare(
        f"indicators for {_BRANCHES} branches, cold", "`git merge-tree` each", world.name, cold, each, rounds=3, goal=2
    )
    repo.merge_status(names, "merged-into")
    target = repo.workspace("merged-into")
    tips = []
    for n in range(3):
        target.write_file(f"docs/moved-{n}.md", "The target moved.\n")
        tips.append(target.commit("bench: the target moved"))

    def moved(n: int) -> None:
        repo.merge_status(names, tips[n])

    yield compare(
        f"indicators for {_BRANCHES} branches after the target moved",
        "`git merge-tree` each",
        world.name,
        moved,
        each,
        rounds=3,
        goal=40,
    )


def _branches(world: World, repo: Repository) -> list[str]:
    """Branches that each change two files of their own, and a target that has gone on since."""
    names = [f"topic/{n}" for n in range(_BRANCHES)]
    base = repo.resolve("main")
    for n, name in enumerate(names):
        repo.create_branch(name, base)
        workspace = repo.workspace(name)
        workspace.write_file(path_of(n * 4 % world.count, world.count), f"topic = {n}\n")
        workspace.write_file(f"notes/topic-{n}.md", f"Topic {n}.\n")
        workspace.commit(f"bench: topic {n}")
    repo.create_branch("merged-into", base)
    workspace = repo.workspace("merged-into")
    for n in range(10):
        workspace.write_file(path_of(n * 4 + 1, world.count), f"target = {n}\n")
        workspace.commit(f"bench: target {n}")
    return names
