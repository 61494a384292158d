"""Which files of a branch its agent has before it, as a person sets them."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from forge.git import CommitId, Repository
from forge.git.errors import FileMissing
from forge.sessions.active import ActiveFile, read_active, write_active

__all__ = ["ActiveFile"]


def active_files(repo: Repository, rev: str) -> tuple[ActiveFile, ...]:
    return read_active(repo.commit_vfs(rev))


def add(repo: Repository, branch: str, wanted: Sequence[ActiveFile]) -> tuple[tuple[ActiveFile, ...], CommitId | None]:
    """Take files into the context; a path may be a pattern. One commit, none if they were there already."""
    vfs = repo.workspace(branch)
    files = {file.path: file for file in read_active(vfs)}
    for file in wanted:
        for path in _matching(vfs.list_files(), file.path):
            files[path] = ActiveFile(path, file.ranges)
    write_active(vfs, tuple(files.values()))
    commit = vfs.commit(f"context: add {', '.join(file.path for file in wanted)}"[:72]) if vfs.pending else None
    return tuple(files.values()), commit


def remove(repo: Repository, branch: str, paths: Sequence[str]) -> tuple[tuple[ActiveFile, ...], CommitId | None]:
    vfs = repo.workspace(branch)
    files = {file.path: file for file in read_active(vfs)}
    for path in paths:
        for found in _matching(list(files), path):
            files.pop(found, None)
    write_active(vfs, tuple(files.values()))
    commit = vfs.commit(f"context: remove {', '.join(paths)}"[:72]) if vfs.pending else None
    return tuple(files.values()), commit


def _matching(paths: Sequence[str], pattern: str) -> list[str]:
    if pattern in paths:
        return [pattern]
    folder = pattern.rstrip("/") + "/"
    found = [path for path in paths if path.startswith(folder) or fnmatch.fnmatchcase(path, pattern)]
    if not found:
        raise FileMissing(f"{pattern} matches no file.", hint="`forge file list` and `forge context show` list them.")
    return found
