"""Changing one file or folder of a branch: read, checked, committed; and again, where the branch moved meanwhile."""

from __future__ import annotations

import random
import shlex
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from forge.app.repositories import carried_marks
from forge.errors import Conflict
from forge.git import (
    PERSON,
    Actor,
    ActorKind,
    BranchMissing,
    BranchMoved,
    Change,
    CommitId,
    Mode,
    Operation,
    Repository,
    Signature,
    WorkInProgressVFS,
)
from forge.git.errors import RefLocked

T = TypeVar("T")
NEW = ""
"""As `expected`: there must be no such file yet."""
ANY = "*"
"""As `expected`: there must be such a file, whatever it holds."""
Expected = str | tuple[str, ...] | None
"""The etag that a file must have for a change, or several of which it must have one; None: whatever there is."""
_PATIENCE = 10.0
# Saves to one branch in this process wait for each other instead of all but one being in vain.
_IN_TURN = tuple(threading.Lock() for _ in range(64))


class FileChanged(Conflict):
    """It is not what the person saw. `etag` is what it is now; None: there is no such file."""

    code = "file_changed"

    def __init__(self, message: str, *, hint: str = "", etag: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.etag = etag


@dataclass(frozen=True, slots=True)
class Landed:
    """A commit on a branch, or that none was needed."""

    branch: str
    commit: CommitId | None
    changes: Mapping[str, Change]
    operation: Operation | None
    etag: str | None


def begun(repo: Repository, branch: str, *, actor: Actor = PERSON) -> WorkInProgressVFS:
    """The branch as a person sees it who begins to write a file; who has none yet is told how to make it."""
    try:
        return repo.workspace(branch, actor=actor)
    except BranchMissing as e:
        hint = f"`forge branch new {shlex.quote(branch)}` makes it; {e.hint}"
        raise BranchMissing(e.message, hint=hint) from e


def save(
    repo: Repository,
    branch: str,
    path: str,
    data: bytes,
    *,
    expected: Expected = None,
    executable: bool | None = None,
    message: str | None = None,
    actor: Actor = PERSON,
    author: Signature | None = None,
    seen: WorkInProgressVFS | None = None,
    large: bool = False,
) -> Landed:
    """Where the person began with the branch as it was `seen`, nothing is saved once that has moved.

    `large`: the person means it, however large the file is. Agents cannot say so.
    """
    mode = None if executable is None else Mode.EXECUTABLE if executable else Mode.FILE

    def write(files: WorkInProgressVFS) -> None:
        if large and files.actor.kind is ActorKind.PERSON:
            files.largest_file = None
        _refuse_changed(files, path, expected)
        old = files.entry(path)
        # A link is never written over: without a mode, the workspace says so.
        files.write_bytes(path, data, mode=None if old is not None and old.is_symlink else mode)

    text = message or f"edit: {path.rpartition('/')[2]}"
    if seen is not None:
        return _landed(repo, seen, path, write, text, author, doing=("file.save", path))
    return _committed(repo, branch, path, write, text, doing=("file.save", path), actor=actor, author=author)


def delete(
    repo: Repository,
    branch: str,
    path: str,
    *,
    expected: Expected = None,
    message: str | None = None,
    actor: Actor = PERSON,
    author: Signature | None = None,
) -> Landed:
    def remove(files: WorkInProgressVFS) -> None:
        _refuse_changed(files, path, expected)
        files.delete_file(path)

    text = message or f"delete: {path.rpartition('/')[2]}"
    return _committed(repo, branch, path, remove, text, doing=("file.delete", path), actor=actor, author=author)


def rename(
    repo: Repository,
    branch: str,
    old: str,
    new: str,
    *,
    expected: Expected = None,
    message: str | None = None,
    actor: Actor = PERSON,
    author: Signature | None = None,
) -> Landed:
    def move(files: WorkInProgressVFS) -> None:
        _refuse_changed(files, old, expected)
        files.rename_file(old, new)

    text = message or f"rename: {old} to {new}"
    doing = ("file.rename", f"{old} to {new}")
    return _committed(repo, branch, new, move, text, doing=doing, actor=actor, author=author)


def delete_folder(
    repo: Repository,
    branch: str,
    path: str,
    *,
    message: str | None = None,
    actor: Actor = PERSON,
    author: Signature | None = None,
) -> Landed:
    """Every file below it, in one commit."""
    folder = path.rstrip("/")
    text = message or f"delete: {folder.rpartition('/')[2]}/"

    def remove(files: WorkInProgressVFS) -> None:
        files.delete_folder(folder)

    return _committed(repo, branch, folder, remove, text, doing=("folder.delete", path), actor=actor, author=author)


def rename_folder(
    repo: Repository,
    branch: str,
    old: str,
    new: str,
    *,
    message: str | None = None,
    actor: Actor = PERSON,
    author: Signature | None = None,
) -> Landed:
    """Every file below it moves, in one commit."""
    here, there = old.rstrip("/"), new.rstrip("/")

    def move(files: WorkInProgressVFS) -> None:
        files.rename_folder(here, there)

    text = message or f"rename: {here}/ to {there}/"
    doing = ("folder.rename", f"{old} to {new}")
    return _committed(repo, branch, there, move, text, doing=doing, actor=actor, author=author)


def _committed(
    repo: Repository,
    branch: str,
    path: str,
    change: Callable[[WorkInProgressVFS], None],
    message: str,
    *,
    doing: tuple[str, str],
    actor: Actor,
    author: Signature | None,
) -> Landed:
    def made() -> Landed:
        files = repo.workspace(branch, actor=actor)
        return _landed(repo, files, path, change, message, author, doing=doing)

    return anew(repo, branch, made)


def anew(repo: Repository, branch: str, made: Callable[[], T]) -> T:
    """Made on the branch as it is, and made anew where that moved meanwhile: nothing is ever overwritten unseen."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with _in_turn(repo, branch):
                return made()
        except (BranchMoved, RefLocked):
            if time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - so that two do not meet again and again


def _landed(  # noqa: PLR0917
    repo: Repository,
    files: WorkInProgressVFS,
    path: str,
    change: Callable[[WorkInProgressVFS], None],
    message: str,
    author: Signature | None,
    *,
    doing: tuple[str, str],
) -> Landed:
    """`doing` is the action, and to what it is done."""
    action, what = doing
    files.actor = files.actor.doing(action, f"{files.branch}: {what}")
    change(files)
    changes = files.pending_changes()
    entry = files.entry(path)
    etag = entry.id if entry is not None and not entry.is_tree else None
    if not changes:
        return Landed(files.branch, files.base, {}, None, etag)
    commit = carried_marks.commit(repo, files, message, author)
    return Landed(files.branch, commit, changes, files.last_operation, etag)


def _in_turn(repo: Repository, branch: str) -> threading.Lock:
    return _IN_TURN[hash((repo.common_dir, branch)) % len(_IN_TURN)]


def _refuse_changed(files: WorkInProgressVFS, path: str, expected: Expected) -> None:
    if expected is None:
        return
    found = files.entry(path)
    etag = None if found is None else found.id
    if (etag or NEW) in ((expected,) if isinstance(expected, str) else expected) or (etag and expected == ANY):
        return
    if etag is None:
        since = "" if expected == ANY else " any more"
        raise FileChanged(f"{path} is not on {files.branch}{since}.", hint="Save it as a new file.", etag=None)
    what = "exists already" if expected == NEW else "has changed since you read it"
    raise FileChanged(f"{path} {what}.", hint="Read it again and make your change there.", etag=etag)
