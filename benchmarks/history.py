"""The first page of the graph in a long history, against git log."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row, compare
from forge.git import Repository
from tests.support.sample_repositories import long_history

_PAGE = 200


def graphs(root: Path) -> Iterator[Row]:
    commits = 140_000
    path = long_history(root, commits)
    repo = Repository.open(path)
    list(repo.graph(limit=_PAGE))

    def ours(_: int) -> None:
        if len(list(repo.graph(limit=_PAGE))) != _PAGE:
            raise AssertionError("a whole page")

    def theirs(_: int) -> None:
        subprocess.run(
            ["git", "log", f"-{_PAGE}", "--topo-order", "--all", "--format=%H %P %s"],
            cwd=path,
            capture_output=True,
            check=True,
        )

    yield compare(
        f"first {_PAGE} rows of the graph",
        "`git log --topo-order`",
        f"{commits // 1000}k commits",
        ours,
        theirs,
        rounds=9,
        goal=0.5,
    )
