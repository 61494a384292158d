"""Fills the search cache of a repository in a process of its own, so that no search waits for it."""

from __future__ import annotations

import os
import subprocess
import sys

from forge.git import CommitId, Repository
from forge.git.search.cache_fill import is_warm, warm

_WORTH_IT = 1_000
"""Files; below that a cold search is quick."""
_DETACHED = '"$@" </dev/null >/dev/null 2>&1 &'
"""The shell ends at once and leaves the process to init, so that no one here has to wait for it."""


def warm_in_background(repo: Repository, commit: CommitId) -> bool:
    """Start filling the cache for a commit, unless it is full or the repository is small. Whether it was started."""
    tree = repo.objects.commit(commit).tree
    if len(repo.objects.paths(tree)) < _WORTH_IT or is_warm(repo.objects, tree):
        return False
    # -P: without it Python would first look for modules in the current directory, which is anybody's repository.
    warmer = [sys.executable, "-P", "-m", "forge.app.repositories.search_cache", str(repo.git_dir), commit]
    shell = ["/bin/sh", "-c", _DETACHED, "forge", *warmer]
    return subprocess.run(shell, cwd="/", start_new_session=True, check=False).returncode == 0


def _main(git_dir: str, commit: str) -> None:
    os.nice(10)
    repo = Repository.open(git_dir)
    warm(repo.objects, repo.commit(commit).tree)


if __name__ == "__main__":
    _main(*sys.argv[1:3])
