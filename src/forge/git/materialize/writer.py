"""Puts files into a directory. Nothing is written through a symlink, nor into a file that has a second name."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.materialize import sweep
from forge.git.materialize.manifest import Written
from forge.git.materialize.safe_walk import NO_FOLDER, Descent
from forge.git.materialize.stat_index import look
from forge.git.objects import trees

if TYPE_CHECKING:
    from forge.git.materialize.blobs import File
    from forge.git.values import Entry

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PERMISSIONS = 0o755
_PART = 1 << 30
# Names that a file system cannot have; they are left out, as nothing else is wrong with the disk.
_UNUSABLE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


@dataclass(slots=True)
class WriteOutcome:
    written: dict[str, Written | None] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    """Folders in which names changed."""
    gone: set[str] = field(default_factory=set)
    """Folders that were removed because they were empty."""
    refused: dict[str, str] = field(default_factory=dict)
    """Files that this file system cannot hold, and why."""


def remove(root: Path, paths: Iterable[str], *, keep: Iterable[str]) -> WriteOutcome:
    """Remove files, or whatever is in their place, and the folders that this empties, except those to `keep`."""
    outcome = WriteOutcome()
    kept = {trees.encode(path) for path in keep}
    emptied: set[bytes] = set()
    with Descent(root) as descent:
        for path in sorted(map(trees.encode, paths)):
            try:
                sweep.remove(*descent.place(path))
            except OSError as e:
                if e.errno == errno.EINVAL:
                    continue
                if e.errno not in NO_FOLDER:
                    raise
            emptied.add(path.rpartition(b"/")[0])
        for folder in sorted(emptied, reverse=True):
            removed, stays = _pruned(descent, folder, kept)
            outcome.gone |= {trees.decode(path) for path in removed}
            outcome.folders.add(trees.decode(stays))
        outcome.folders -= outcome.gone
    return outcome


def _pruned(descent: Descent, folder: bytes, kept: set[bytes]) -> tuple[list[bytes], bytes]:
    """Remove `folder` and those above it as long as they are empty: those removed, and the first that stays."""
    removed: list[bytes] = []
    while folder and folder not in kept:
        try:
            above, name = descent.place(folder)
            os.rmdir(name, dir_fd=above)
        except OSError as e:
            if e.errno in (errno.ENOTEMPTY, errno.EEXIST):
                break
            if e.errno not in NO_FOLDER:
                raise
        removed.append(folder)
        folder = folder.rpartition(b"/")[0]
    return removed, folder


def write(root: Path, files: Iterable[File]) -> WriteOutcome:
    """Put each file in its place; whatever is there goes."""
    outcome = WriteOutcome()
    with Descent(root) as descent:
        for path, entry, data in files:
            if data is None:
                outcome.refused[path] = "an entry whose object is no file"
                continue
            try:
                folder, name = descent.place(trees.encode(path), create=True)
                found = _written_over(folder, name, entry, data)
                if found is None:
                    found = _put(folder, name, entry, data)
                    outcome.folders.add(path.rpartition("/")[0])
            except OSError as e:
                if e.errno not in _UNUSABLE:
                    raise
                outcome.refused[path] = f"a name that cannot be used here ({os.strerror(e.errno)})"
                continue
            if found is None:
                outcome.folders.add(path)
            else:
                outcome.written[path] = Written(entry, look(found))
    return outcome


def _written_over(folder: int, name: bytes, entry: Entry, data: bytes) -> os.stat_result | None:
    """How the file looks now; None if what is there cannot take the content and has to be replaced.

    Most updates end here: a new file costs the file system several times as much, and a change of names besides.
    """
    try:
        fd = os.open(name, _OLD, dir_fd=folder)
    except OSError:
        return None  # nothing is there, or nothing that can be written: a symlink, a folder, a program that still runs
    try:
        found = os.fstat(fd)
        if not _takes(found, _permissions(entry)):
            return None
        _fill(fd, data)
        if found.st_size > len(data):
            os.ftruncate(fd, len(data))
        return os.fstat(fd)
    finally:
        os.close(fd)


def _takes(found: os.stat_result, mode: int) -> bool:
    """Whether a file may be written over: ours, under one name, with permissions that a new one might have."""
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_nlink == 1
        and found.st_uid == os.geteuid()
        and found.st_mode & 0o7700 == mode & 0o7700
    )


def _put(folder: int, name: bytes, entry: Entry, data: bytes) -> os.stat_result | None:
    """How the new file looks; None for the empty folder of a submodule."""
    try:
        return _made(folder, name, entry, data)
    except FileExistsError:
        sweep.remove(folder, name)
        return _made(folder, name, entry, data)
    except PermissionError:
        with sweep.writable(folder):
            return _made(folder, name, entry, data)


def _made(folder: int, name: bytes, entry: Entry, data: bytes) -> os.stat_result | None:
    if entry.is_submodule:
        os.mkdir(name, _PERMISSIONS, dir_fd=folder)
        return None
    if entry.is_symlink:
        os.symlink(data, name, dir_fd=folder)
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    mode = _permissions(entry)
    fd = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        _fill(fd, data)
        found = os.fstat(fd)
        if (found.st_mode ^ mode) & 0o700:  # an unusual umask
            os.fchmod(fd, mode)
            found = os.fstat(fd)
        return found
    finally:
        os.close(fd)


def _permissions(entry: Entry) -> int:
    """Of a regular file; 0 for what is none."""
    if entry.is_symlink or entry.is_submodule:
        return 0
    return _PERMISSIONS if entry.mode & 0o100 else _PERMISSIONS & ~0o111


def _fill(fd: int, data: bytes) -> None:
    """Write in parts: one call takes about 2 GiB, and less when the disk is nearly full."""
    at = 0
    while at < len(data):
        at += os.pwrite(fd, data[at : at + _PART], at)
