"""Fills an empty directory by git itself, as fast as any checkout: only with what was found harmless before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import GitFailed
from forge.git.materialize import stat_index
from forge.git.objects import trees
from forge.git.process.git_command import Git

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import Entry

# Below this, starting git costs more than it saves.
WORTH_IT = 200
_WORKERS = 4
# git wants these quoted in a list of directories; so rare that our own writer may do.
_SEPARATORS = (":", '"', "\n", "\\")


def filled(objects: Objects, files: Path, index: Path, entries: Mapping[str, Entry]) -> bool:
    """Write every entry and an index that knows how the files look. If not, anything may be in the directory."""
    source = str(objects.objects_dir)
    if any(letter in source for letter in _SEPARATORS):
        return False
    names = {trees.encode(path): entry for path, entry in entries.items()}
    stat_index.write(index, {name: stat_index.record(name, entry, None) for name, entry in names.items()})
    workers = f"checkout.workers={min(_WORKERS, os.cpu_count() or 1)}"
    env = {"GIT_INDEX_FILE": str(index), "GIT_ALTERNATE_OBJECT_DIRECTORIES": source}
    command = ("-c", workers, "checkout-index", "--all", "--index", "--quiet")
    try:
        Git(index.parent).run(*command, env=env, work_tree=files)
    except GitFailed:
        return False  # our own writer continues with what is harmless, or finds out what is wrong
    return True
