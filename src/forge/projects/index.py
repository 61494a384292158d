"""The index of a project's repository, made to say what a commit says. Nobody stages anything here."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import GitFailed
from forge.git.values import EMPTY_TREE

if TYPE_CHECKING:
    from forge.git import CommitId, Repository


def align(repository: Repository, commit: CommitId | None, *, afresh: bool = False) -> None:
    """Replace the index by one for `commit`; what it knows of unchanged files is kept unless `afresh`.

    Made beside it and moved into place, so that a lock which somebody's git left behind is no obstacle.
    """
    objects, index = repository.objects, repository.git_dir / "index"
    tree = objects.commit(commit).tree if commit else EMPTY_TREE
    objects.scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=objects.scratch, prefix="records-") as folder:
        made = Path(folder) / "index"
        if not afresh:
            with suppress(FileNotFoundError):
                shutil.copyfile(index, made)
        env = {"GIT_INDEX_FILE": str(made)}
        try:
            objects.git.run("read-tree", "--reset", tree, env=env, work_tree=repository.work_tree)
        except GitFailed:
            if afresh:
                raise
            align(repository, commit, afresh=True)
            return
        objects.git.run("update-index", "-q", "--refresh", env=env, ok=(0, 1), work_tree=repository.work_tree)
        os.replace(made, index)
