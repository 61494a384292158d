"""The person's checkouts: found by their HEAD files, and brought along when Forge moves the branch they show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from forge.git.objects import Objects
from forge.git.values import CommitId


@dataclass(frozen=True, slots=True)
class Worktree:
    path: Path
    git_dir: Path


@dataclass(frozen=True, slots=True)
class CheckoutUpdate:
    worktree: Path
    state: str
    old: CommitId | None
    new: CommitId


def branches_checked_out(objects: Objects) -> frozenset[str]:
    return frozenset()


def worktrees_on(objects: Objects, branch: str) -> tuple[Worktree, ...]:
    return ()


def bring_up_to_date(
    objects: Objects, worktree: Worktree, old: CommitId | None, new: CommitId
) -> CheckoutUpdate:
    raise NotImplementedError


def step_back(objects: Objects, worktree: Worktree, update: CheckoutUpdate) -> None:
    raise NotImplementedError
