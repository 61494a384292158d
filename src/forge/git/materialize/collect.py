"""Takes what a command made, changed or deleted into the workspace: all of it is read first, then put there."""

from __future__ import annotations

import math
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forge.errors import Denied, ForgeError, NotFound
from forge.git.errors import InvalidPath, RecordProtected
from forge.git.materialize.files import content, file_mode, same
from forge.git.materialize.links import Spelling, complaints
from forge.git.materialize.manifest import Held, Written, folders_above, settled
from forge.git.materialize.safe_walk import Descent, is_folder
from forge.git.materialize.stat_index import Look, look
from forge.git.materialize.wanted import reachable
from forge.git.objects import trees
from forge.git.objects.raw_object import object_id
from forge.git.values import Entry, ObjectKind
from forge.git.workspace import paths
from forge.git.workspace.pending import Change

if TYPE_CHECKING:
    from forge.git.materialize.scan import Differences
    from forge.git.workspace.commit_vfs import VFS


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was left out, and why."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class CollectedChange:
    path: str
    change: Change


@dataclass(frozen=True, slots=True)
class CollectionLimits:
    """What of a command's files is taken into a workspace, which is held in memory."""

    file_bytes: int = 100 << 20
    total_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class CollectedFile:
    """A file as the command left it."""

    entry: Entry
    data: bytes
    seen: Look


@dataclass(slots=True)
class Gathered:
    files: dict[str, CollectedFile] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    late: int = 0
    """Changed files that were not taken in because the time was over."""

    def leave_out(self, path: str, why: str) -> None:
        self.files.pop(path, None)
        self.notes.append(Note(path, f"not collected: {why}"))


_RECORD = "it is a record that only Forge writes"

Had = Callable[[str], Entry | None]
"""What the directory held at a path before the command ran."""


def gather(
    root: Path,
    held: Held,
    found: Differences,
    had: Had,
    *,
    limits: CollectionLimits,
    spelling: Spelling,
    until: float = math.inf,
) -> Gathered:
    """Read everything that differs, or what can be read `until` then. Nothing is changed anywhere yet."""
    gathered = Gathered()
    for path, what in sorted(found.odd.items()):
        gathered.leave_out(path, what)
    room = limits.total_bytes
    with Descent(root) as descent:
        wanted = sorted(found.paths - found.odd.keys())
        for number, path in enumerate(wanted):
            if time.monotonic() >= until:
                gathered.late = len(wanted) - number
                break
            if why := _skipped_above(path, held):
                gathered.leave_out(path, f"in the place of {why}")
                continue
            if reachable(path) != path:
                gathered.leave_out(path, "folders nested too deeply")
                continue
            try:
                room -= _gather_one(descent, path, had(path), gathered, min(limits.file_bytes, room))
            except OSError as e:
                gathered.leave_out(path, f"it cannot be read ({e.strerror})")
    _drop_unsafe_links(gathered, held, spelling)
    return gathered


def _skipped_above(path: str, held: Held) -> str:
    """Why the entry at or above `path` was left out of the directory: it stays as it is in the repository."""
    return next((held.skipped[place] for place in (path, *folders_above(path)) if place in held.skipped), "")


def _gather_one(descent: Descent, path: str, had: Entry | None, gathered: Gathered, room: int) -> int:
    """Read one file; its size."""
    status = descent.status(trees.encode(path))
    if status is None or is_folder(status):
        if had is not None:
            gathered.deleted.append(path)
        return 0
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        gathered.leave_out(path, "a pipe, socket or device")
        return 0
    if status.st_size > room:
        gathered.leave_out(path, f"too large ({status.st_size:,} bytes)")
        return 0
    if had is None:
        try:
            paths.checked(path)
        except InvalidPath as e:
            gathered.leave_out(path, e.message)
            return 0
    data = content(descent, trees.encode(path), status)
    entry = Entry(file_mode(status.st_mode), object_id(ObjectKind.BLOB, data))
    if same(had, entry):
        return 0
    if had is not None and file_mode(had.mode) == entry.mode:
        entry = Entry(had.mode, entry.id)
    gathered.files[path] = CollectedFile(entry, data, look(status))
    return len(data)


def _drop_unsafe_links(gathered: Gathered, held: Held, spelling: Spelling) -> None:
    new = {path: trees.decode(file.data) for path, file in gathered.files.items() if file.entry.is_symlink}
    gone = {*gathered.deleted, *gathered.files}
    links = {path: target for path, target in held.links.items() if path not in gone} | new
    for path, why in complaints(links, spelling).items() if new else ():
        if path in new:
            gathered.leave_out(path, why)


def put_into(vfs: VFS, gathered: Gathered, had: Had, *, until: float = math.inf) -> list[CollectedChange]:
    """Put what was gathered into the workspace; a name that it refuses is noted and left out."""
    changes = [CollectedChange(path, Change.DELETED) for path in gathered.deleted if _deleted(vfs, path, gathered)]
    for path, file in list(gathered.files.items()):
        if time.monotonic() >= until:
            gathered.late += 1
            del gathered.files[path]
            continue
        before = had(path)
        try:
            if before is not None and before.id == file.entry.id and not (before.is_symlink or file.entry.is_symlink):
                vfs.set_mode(path, file.entry.mode)
            else:
                vfs.write_bytes(path, file.data, mode=file.entry.mode)
        except RecordProtected:
            gathered.leave_out(path, _RECORD)
        except Denied:  # a view that takes nothing says so at the first file
            raise
        except ForgeError as e:
            gathered.leave_out(path, e.message)
        else:
            changes.append(CollectedChange(path, Change.MODIFIED if before else Change.ADDED))
    return sorted(changes, key=lambda change: trees.encode(change.path))


def _deleted(vfs: VFS, path: str, gathered: Gathered) -> bool:
    try:
        vfs.delete_file(path)
    except NotFound:
        return False  # gone from the workspace, too
    except RecordProtected:
        gathered.leave_out(path, _RECORD)
        return False
    except Denied:
        raise
    except ForgeError as e:
        gathered.leave_out(path, e.message)
        return False
    return True


def remember(held: Held, gathered: Gathered) -> None:
    """From now on the directory is meant to hold what the command made of it."""
    now = time.time_ns()
    for path in gathered.deleted:
        held.own[path] = held.written[path] = None
        held.links.pop(path, None)
    for path, file in gathered.files.items():
        held.own[path] = file.entry
        held.written[path] = Written(file.entry, settled(file.seen, now))
        held.links.pop(path, None)
        if file.entry.is_symlink:
            held.links[path] = trees.decode(file.data)
        for folder in folders_above(path):
            held.folders.setdefault(folder, 0)
