"""Tests of a branch through Forge, against a worktree of its own; and how soon they start after one changed file."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, Row, compare
from forge.app.repositories.test_runs import Wanted, run_branch_tests
from forge.git import Repository

_FILES = 2_000
_ROUNDS = 5
_COMMAND = "python3 -m unittest -v"
_TESTS = "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_sum(self): self.assertEqual(1 + 2, 3)\n"
_numbers = itertools.count()


def test_runs(root: Path) -> Iterator[Row | Figure]:
    place = root / "test-runs"
    repo = _made(place)
    branches = [_branch(repo) for _ in range(_ROUNDS + 1)]
    _run(repo, branches[-1])  # what the first command of a process loads is not part of a run

    def ours(n: int) -> None:
        _run(repo, branches[n])

    def theirs(n: int) -> None:
        tree = root / f"worktree-{n}"
        _git(place, "worktree", "add", "-q", "--detach", str(tree), branches[n])
        subprocess.run(["sh", "-c", f"{_COMMAND} 2>&1"], cwd=tree, check=True, capture_output=True)

    size = f"{_FILES:,} files, one test"
    yield compare(
        "tests of a branch, first time",
        "`git worktree add` and the command",
        size,
        ours,
        theirs,
        rounds=_ROUNDS,
        goal=0.8,
    )
    yield Figure("tests start after one changed file", size, _start_after_change(repo, branches[0]), "s", at_most=0.5)
    yield Figure("the same files asked for again", size, _again(repo, branches[0]), "s", at_most=0.1)


def _start_after_change(repo: Repository, branch: str) -> float:
    """Until the runner prints its first line; the slowest of three."""
    took = []
    for _ in range(3):
        _change(repo, branch)
        lines: list[float] = []
        began = time.perf_counter()
        _run(repo, branch, lines)
        took.append(lines[0] - began)
    return max(took)


def _again(repo: Repository, branch: str) -> float:
    began = time.perf_counter()
    assert run_branch_tests(repo, branch, Wanted(), redact=str).reused
    return time.perf_counter() - began


def _run(repo: Repository, branch: str, lines: list[float] | None = None) -> None:
    heard = lines if lines is not None else []
    done = run_branch_tests(repo, branch, Wanted(), redact=str, on_line=lambda _: heard.append(time.perf_counter()))
    assert (done.reused, done.record.outcome) == (False, "passed"), done.record


def _made(place: Path) -> Repository:
    for n in range(_FILES):
        path = place / f"package{n % 40}" / f"module{n}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {n}\n")
    (place / "test_sums.py").write_text(_TESTS)
    _git(place, "init", "-q", "--initial-branch=main")
    _git(place, "add", ".")
    _git(place, "commit", "-qm", "files")
    return Repository.open(place)


def _branch(repo: Repository) -> str:
    name = f"bench/{next(_numbers)}"
    repo.create_branch(name, "main")
    _change(repo, name)
    return name


def _change(repo: Repository, branch: str) -> None:
    files = repo.workspace(branch)
    files.write_file("package1/module1.py", f"VALUE = {next(_numbers)}0\n")
    files.commit("change one file")


def _git(place: Path, *words: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)
