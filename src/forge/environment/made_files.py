"""What a setup created beside the files of a branch, such as `node_modules`: moved into the layer."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from forge.git import VFS

_NOT_KEPT = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".pdm-python", ".pdm-build", "build")
CACHES_INSIDE = (".cache", ".vite", ".vite-temp")
"""Folders of node_modules that test runners write to; each command gets empty ones."""


def taken(source: Path, vfs: VFS, into: Path) -> dict[str, str]:
    """Move what the setup created beside the files of the branch into the layer: path of the branch → place there."""
    tracked = set(vfs.list_files())
    folders = {parent for path in tracked for parent in _parents(path)}
    made: dict[str, str] = {}
    for path in _created(source, tracked, folders):
        number = str(len(made))
        into.mkdir(exist_ok=True)
        shutil.move(source / path, into / number)
        if path.rpartition("/")[2] == "node_modules" and (into / number).is_dir():
            for name in CACHES_INSIDE:
                cache = into / number / name
                if cache.is_symlink() or cache.is_file():
                    cache.unlink()
                cache.mkdir(exist_ok=True)
        made[path] = number
    return made


def _created(source: Path, tracked: set[str], folders: set[str]) -> list[str]:
    found = []
    for place, names, files in os.walk(source):
        inside = os.path.relpath(place, source)
        prefix = "" if inside == "." else f"{inside}/"
        for name in [*names]:
            path = f"{prefix}{name}"
            if path in folders:
                continue
            names.remove(name)
            # A link could lead anywhere on this machine, and what it leads to would be mounted.
            if os.path.islink(f"{place}/{name}"):
                continue
            if name not in _NOT_KEPT and not name.endswith(".egg-info") and name != ".git":
                found.append(path)
        new = (name for name in files if f"{prefix}{name}" not in tracked and not os.path.islink(f"{place}/{name}"))
        found += [f"{prefix}{name}" for name in new]
    return sorted(found)


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
