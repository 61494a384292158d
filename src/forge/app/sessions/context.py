"""Which files of a branch its agent has before it, as a person marks them. A mark is no commit."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from forge.context.instructions import instruction_files
from forge.git import VFS, WorkInProgressVFS
from forge.git.errors import FileMissing
from forge.sessions.head import ActiveFile, Head
from forge.sessions.marks import mark
from forge.sessions.places import Sessions

__all__ = ["ActiveFile"]


def active_files(sessions: Sessions, branch: str) -> tuple[ActiveFile, ...]:
    """The instructions of the repository first, unless they were switched off; then the others as they came in."""
    return in_context(_tip(sessions, branch), sessions.head(branch))


def in_context(files: VFS, head: Head) -> tuple[ActiveFile, ...]:
    """What `head` has in context in a branch that has these files."""
    active = {file.path: file for file in head.active_files}
    told = instruction_files(files, active, off=head.off)
    return tuple({**{path: ActiveFile(path) for path in told}, **active}.values())


def add(sessions: Sessions, branch: str, wanted: Sequence[ActiveFile]) -> tuple[ActiveFile, ...]:
    """Take files into the context from the next turn on; a path may be a pattern."""
    files = _tip(sessions, branch).list_files()
    found = {path: ActiveFile(path, file.ranges) for file in wanted for path in _matching(files, file.path)}
    _mark(sessions, branch, add=tuple(found.values()))
    return active_files(sessions, branch)


def remove(sessions: Sessions, branch: str, paths: Sequence[str]) -> tuple[ActiveFile, ...]:
    """Instructions that are removed are switched off until somebody adds them again."""
    shown = [file.path for file in active_files(sessions, branch)]
    _mark(sessions, branch, remove=[found for path in paths for found in _matching(shown, path)])
    return active_files(sessions, branch)


def _mark(sessions: Sessions, branch: str, *, add: Sequence[ActiveFile] = (), remove: Sequence[str] = ()) -> None:
    mark(sessions.repo.common_dir, branch, add=add, remove=remove)


def _tip(sessions: Sessions, branch: str) -> WorkInProgressVFS:
    return sessions.repo.workspace(branch)


def _matching(paths: Sequence[str], pattern: str) -> list[str]:
    if pattern in paths:
        return [pattern]
    folder = pattern.rstrip("/") + "/"
    found = [path for path in paths if path.startswith(folder) or fnmatch.fnmatchcase(path, pattern)]
    if not found:
        raise FileMissing(f"{pattern} matches no file.", hint="`forge file list` and `forge context show` list them.")
    return found
