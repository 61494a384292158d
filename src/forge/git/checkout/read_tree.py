"""`git read-tree` in a checkout: files and index, or the index alone, carried from one tree to another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.checkout.index_copy import LOCK_PATIENCE
from forge.git.process.git_command import Git

if TYPE_CHECKING:
    from forge.git.checkout.worktrees import Worktree
    from forge.git.values import ObjectId

_IN_PROGRESS = {
    "MERGE_HEAD": "a merge is in progress",
    "CHERRY_PICK_HEAD": "a cherry-pick is in progress",
    "REVERT_HEAD": "a revert is in progress",
    "rebase-merge": "a rebase is in progress",
    "rebase-apply": "a rebase or `git am` is in progress",
    "sequencer": "a sequence of cherry-picks or reverts is in progress",
}


def busy(worktree: Worktree) -> str:
    """What the person's git is doing there, if anything."""
    for name, what in _IN_PROGRESS.items():
        if (worktree.git_dir / name).exists():
            return what
    deadline = time.monotonic() + LOCK_PATIENCE
    while (worktree.git_dir / "index.lock").exists():
        if time.monotonic() > deadline:
            return "another git command has locked its index (index.lock)"
        time.sleep(0.02)
    return ""


def read_tree(worktree: Worktree, old: ObjectId, new: ObjectId, *options: str, index: Path | None = None) -> str:
    """Git's complaint, or nothing when it went through. It checks everything before it touches anything."""
    return _complaint(worktree, *options, "--no-recurse-submodules", "-u", "-m", old, new, index=index)


def read_index(worktree: Worktree, old: ObjectId, new: ObjectId) -> str:
    """The same for the index alone, whatever the files are. An entry that is neither old nor new is a reason not to."""
    return _complaint(worktree, "--no-recurse-submodules", "-i", "-m", old, new)


def _complaint(worktree: Worktree, *options: str, index: Path | None = None) -> str:
    env = {"GIT_INDEX_FILE": str(index)} if index else {}
    done = Git(worktree.git_dir).run("read-tree", *options, ok=(0, 1, 128), env=env, work_tree=worktree.path)
    if done.returncode == 0:
        return ""
    return done.stderr.decode("utf-8", "replace").strip() or f"git read-tree gave {done.returncode}"
