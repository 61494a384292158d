"""Files that are whole and on the disk before anybody is told of them."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.git.errors import StorageFailed

_REASONS = {
    errno.ENOSPC: ("The disk is full", "Free some space and try again."),
    errno.EDQUOT: ("The disk quota is used up", "Free some space and try again."),
    errno.EFBIG: ("The file would be larger than this process may write", "Raise the file size limit."),
    errno.EROFS: ("The disk is read-only", "Mount it writable or work on a copy of the repository."),
    errno.EACCES: ("{file} may not be written", "Check who owns it and the folder that it is in."),
    errno.EPERM: ("{file} may not be written", "Check who owns it and the folder that it is in."),
    errno.EIO: ("The disk reports an error", "Check the disk and its file system."),
}
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


@contextmanager
def reporting() -> Iterator[None]:
    """Turn an operating system error into a `StorageFailed` that says what to do."""
    try:
        yield
    except OSError as e:
        raise storage_failed(e) from e


def storage_failed(error: OSError) -> StorageFailed:
    reason, hint = _REASONS.get(error.errno or 0, (f"Writing failed ({error})", "Run `forge doctor`."))
    named = reason.replace("{file}", str(error.filename or "The repository"))
    return StorageFailed(f"{named}; nothing was changed.", hint=hint)


def is_known(error: OSError) -> bool:
    """Whether the disk is the reason, so that trying again is of no use."""
    return error.errno in _REASONS


def sync_directory(directory: Path | str) -> None:
    sync_file(directory)


def sync_file(path: Path | str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_tree(directory: Path) -> None:
    """Every file and folder below, and the folder itself."""
    for folder, _, names in os.walk(directory, topdown=False):
        for name in names:
            sync_file(Path(folder, name))
        sync_directory(Path(folder))


def write_synced(path: Path | str, data: bytes, *, mode: int = 0o644) -> None:
    """Create `path` with `data` and wait until the disk has it. The name itself is not synced yet."""
    write_new(path, data, mode=mode, sync=True)


def write_new(path: Path | str, data: bytes, *, mode: int = 0o644, sync: bool = False) -> None:
    """Create `path` with all of `data`, or not at all."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if sync:
            os.fsync(fd)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(fd)


def replace_synced(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Give `path` new content, atomically and durably."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    write_synced(beside, data, mode=mode)
    try:
        os.replace(beside, path)
    except OSError:
        os.unlink(beside)
        raise
    sync_directory(path.parent)


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold an advisory lock; the kernel gives it back when the holder dies. Its folder is made if need be."""
    try:
        fd = os.open(path, _LOCK_FLAGS, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        sync_directory(path.parent.parent)
        fd = os.open(path, _LOCK_FLAGS, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
