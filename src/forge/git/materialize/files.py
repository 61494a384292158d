"""Reading what a command left: never through a symlink, never waiting on a pipe."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from forge.git.objects.raw_object import object_id
from forge.git.values import Entry, Mode, ObjectId, ObjectKind

if TYPE_CHECKING:
    from forge.git.materialize.safe_walk import Descent

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20


def file_mode(mode: int) -> int:
    """The mode that git gives a file or symlink with the permissions or the older mode `mode`."""
    if stat.S_ISLNK(mode):
        return Mode.SYMLINK
    return Mode.EXECUTABLE if mode & 0o100 else Mode.FILE


def same(one: Entry | None, other: Entry | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.id == other.id and file_mode(one.mode) == file_mode(other.mode)


def content(descent: Descent, path: bytes, status: os.stat_result) -> bytes:
    """The whole file, or where a symlink points."""
    folder, name = descent.place(path)
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(name, dir_fd=folder)
    with open(os.open(name, _OPEN, dir_fd=folder), "rb", buffering=0) as file:
        return file.readall()


def file_entry(descent: Descent, path: bytes, status: os.stat_result) -> Entry | None:
    """Mode and id of what is at `path`, however large; None if it is no file or cannot be read."""
    mode = file_mode(status.st_mode)
    try:
        if stat.S_ISLNK(status.st_mode):
            return Entry(mode, object_id(ObjectKind.BLOB, content(descent, path, status)))
        if not stat.S_ISREG(status.st_mode):
            return None
        folder, name = descent.place(path)
        with open(os.open(name, _OPEN, dir_fd=folder), "rb", buffering=0) as file:
            digest = hashlib.sha1(b"blob %d\0" % os.fstat(file.fileno()).st_size)
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        return Entry(mode, ObjectId(digest.hexdigest()))
    except OSError:
        return None
