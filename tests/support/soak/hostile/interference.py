"""What a person's plain git does to a repository while Forge works in it, and the moments at which it does so."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from forge.git.refs import ref_store
from forge.git.refs.operations.log import OperationLog
from forge.git.refs.ref_store import Refs
from tests.support.soak import evidence

EXPIRE = ("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
GC = ("gc", "--quiet", "--prune=now")

RAW_WORDS = ("fatal:", "error:", "no match for id", "inflate", "loose object", "corrupted loose reference")
"""What git and libgit2 say, and no person should read."""

Act = Callable[[Path, str], None]


def _git(repo: Path, *args: str) -> None:
    """A person's git may be refused, for example because the branch is gone already."""
    subprocess.run(["git", *args], cwd=repo, capture_output=True, check=False)


def delete(repo: Path, branch: str) -> None:
    _git(repo, "branch", "-D", branch)


def force(repo: Path, branch: str) -> None:
    _git(repo, "branch", "-f", branch, "main")


def rebase(repo: Path, branch: str) -> None:
    """Rewrite the last commit of `branch` in a worktree of the person's."""
    place = str(repo.parent / "rebased")
    _git(repo, "worktree", "add", "--quiet", place, branch)
    _git(Path(place), "rebase", "--quiet", "--force-rebase", "main")
    _git(repo, "worktree", "remove", "--force", place)


def nothing(repo: Path, branch: str) -> None:
    """Only what cleans up afterwards."""


def gc(repo: Path) -> None:
    _git(repo, *GC)


def expire_and_gc(repo: Path) -> None:
    _git(repo, *EXPIRE)
    _git(repo, *GC)


def repack_and_prune(repo: Path) -> None:
    _git(repo, *EXPIRE)
    _git(repo, "repack", "-a", "-d", "-q")
    _git(repo, "prune", "--expire=now")


MOVES: tuple[Act, ...] = (nothing, delete, force, rebase)
CLEANERS: tuple[Callable[[Path], None], ...] = (gc, expire_and_gc, repack_and_prune)


def act(move: Act, clean: Callable[[Path], None]) -> Act:
    def both(repo: Path, branch: str) -> None:
        move(repo, branch)
        clean(repo)

    both.__name__ = f"{move.__name__}, {clean.__name__}"
    return both


ACTS: tuple[Act, ...] = tuple(act(move, clean) for move in MOVES for clean in CLEANERS)


class Moments:
    """Counts the moments of a piece of work, and interferes at one of them."""

    def __init__(
        self, repo: Path, interfere: Callable[[Path, str], None] | None = None, at: int | None = None, branch: str = ""
    ) -> None:
        self.names: list[str] = []
        self.tips: frozenset[str] = frozenset()
        """Where refs were when plain git came: what was there already, the person may throw away."""
        self.at = at
        """The moment of the interference, counted from 0; None: nobody interferes."""
        self.branch = branch
        """The one that plain git comes for."""
        self.held: frozenset[str] = frozenset()
        """What a project held in that moment."""
        self._repo = repo
        self._interfere = interfere

    def __call__(self, name: str) -> None:
        self.names.append(name)
        if self._interfere is not None and len(self.names) - 1 == self.at:
            self.tips = frozenset(evidence.git(self._repo, "for-each-ref", "--format=%(objectname)").split())
            self._interfere(self._repo, self.branch)


@contextmanager
def watched(moment: Moments) -> Iterator[None]:
    """Inside the block every move of a ref passes a moment before each of its parts."""
    land, begin, swap = Refs.land, OperationLog.begin, ref_store.swap

    def landing(self: Refs, *args: Any, **options: Any) -> Any:
        moment("land")
        return land(self, *args, **options)

    def beginning(self: OperationLog, *args: Any, **options: Any) -> Any:
        moment("begin")
        return begin(self, *args, **options)

    def swapping(*args: Any, **options: Any) -> None:
        moment("swap")
        swap(*args, **options)
        moment("swapped")

    with contextlib.ExitStack() as patches:
        patches.enter_context(patch.object(Refs, "land", landing))
        patches.enter_context(patch.object(OperationLog, "begin", beginning))
        patches.enter_context(patch.object(ref_store, "swap", swapping))
        yield


def assert_whole(repo: Path) -> None:
    """No ref leads to a missing object, before and after all that nobody needs is gone."""
    evidence.assert_sound(repo)
    expire_and_gc(repo)
    evidence.assert_sound(repo)
    evidence.assert_readable(repo)
