"""Thousands of saves: each costs what the first one cost, and packs do not pile up."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from forge.git import Repository
from forge.git.workspace.work_in_progress import WorkInProgressVFS
from tests.support.soak import evidence


@dataclass(frozen=True, slots=True)
class ManyRun:
    commits: int
    most_packs: int
    packs_at_the_end: int
    against_a_new_repository: float
    """Median time of a save after all these against one in a new repository, measured in turns."""


def many_commits(folder: Path, commits: int, *, compared: int = 40) -> ManyRun:
    old = _opened(folder / "old")
    most = 0
    for number in range(commits):
        _saved(old, number)
        most = max(most, _packs(folder / "old"))
    new = _opened(folder / "new")
    pairs = [(_saved(old, commits + number), _saved(new, number)) for number in range(compared)]
    ratio = statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)
    evidence.assert_sound(folder / "old")
    evidence.assert_readable(folder / "old")
    return ManyRun(commits, most, _packs(folder / "old"), ratio)


def _opened(place: Path) -> WorkInProgressVFS:
    repo = Repository.init(place, bare=True)
    workspace = repo.workspace("main")
    for number in range(200):
        workspace.write_file(f"folder-{number % 10}/file-{number}.txt", f"{number}\n")
    workspace.commit("first")
    return workspace


def _saved(workspace: WorkInProgressVFS, number: int) -> float:
    workspace.write_file(f"folder-{number % 10}/file-{number % 200}.txt", f"changed {number}\n")
    began = time.perf_counter()
    workspace.commit(f"number {number}")
    return time.perf_counter() - began


def _packs(place: Path) -> int:
    return len(list((place / "objects" / "pack").glob("*.pack")))
