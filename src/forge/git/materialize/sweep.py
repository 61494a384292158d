"""Removing and measuring what commands leave behind: deep, read-only or strange, and never what a symlink leads to."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Folders this far down are moved up before they are emptied: nesting then costs neither stack nor open files.
_DEEP = 32
# So far down one open file for each level is no problem.
_REACH = 100
_READ_BY_GIT = (".gitignore", ".gitattributes")


@contextmanager
def writable(folder: int) -> Iterator[None]:
    """Run a change of names in `folder`, which a command may have made read-only."""
    mode = os.fstat(folder).st_mode
    if mode & 0o700 != 0o700:
        os.fchmod(folder, stat.S_IMODE(mode) | 0o700)
    yield


def remove(parent: int, name: bytes | str) -> None:
    """Remove whatever `name` is in the folder `parent`; nothing there is fine."""
    with writable(parent):
        try:
            os.unlink(name, dir_fd=parent)
        except FileNotFoundError:
            return
        except OSError as e:
            if e.errno not in (errno.EISDIR, errno.EPERM, errno.EACCES) or not _is_folder(parent, name):
                raise
        else:
            return
        try:
            folder = _opened(parent, name)
        except FileNotFoundError:
            return
        try:
            while names := os.listdir(folder):
                for found in names:
                    _remove_below(folder, folder, found, 1)
        finally:
            os.close(folder)
        with suppress(FileNotFoundError):
            os.rmdir(name, dir_fd=parent)


def _remove_below(top: int, parent: int, name: str, depth: int) -> None:
    with suppress(FileNotFoundError):
        if not _is_folder(parent, name):
            os.unlink(name, dir_fd=parent)
            return
        folder = _opened(parent, name)
        try:
            if depth >= _DEEP:
                os.rename(name, f"deep-{secrets.token_hex(8)}", src_dir_fd=parent, dst_dir_fd=top)
                return
            for found in os.listdir(folder):
                _remove_below(top, folder, found, depth + 1)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=parent)


def _opened(parent: int, name: bytes | str) -> int:
    try:
        folder = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        folder = os.open(name, _FOLDER, dir_fd=parent)
    with writable(folder):
        return folder


def _is_folder(parent: int, name: bytes | str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def holds_files(parent: int, name: str, depth: int = 0) -> bool:
    """Whether a folder has a file or symlink anywhere in it. Beyond reach counts as yes."""
    if depth > _REACH:
        return True
    try:
        folder = os.open(name, _FOLDER, dir_fd=parent)
    except OSError:
        return True
    try:
        with os.scandir(folder) as entries:
            folders = []
            for entry in entries:
                if entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    return True
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
        return any(holds_files(folder, below, depth + 1) for below in folders)
    finally:
        os.close(folder)


def size(folder: int, depth: int = 0) -> int:
    """Bytes on disk below an open folder; what lies very deep or is unreadable does not count."""
    total = 0
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                total += found.st_blocks * 512
                if stat.S_ISDIR(found.st_mode) and depth < _REACH:
                    folders.append(entry.name)
    for name in folders:
        with suppress(OSError):
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                total += size(below, depth + 1)
            finally:
                os.close(below)
    return total


def remove_traps(folder: int, depth: int = 0) -> int:
    """Remove what is named like a file that git reads but is none: opening a pipe would block git for ever."""
    removed = 0
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False), _is_plain(entry)) for entry in entries]
    for name, is_folder, plain in found:
        if name in _READ_BY_GIT and not is_folder and not plain:
            remove(folder, name)
            removed += 1
        elif is_folder and depth < _REACH:
            with suppress(OSError):
                below = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    removed += remove_traps(below, depth + 1)
                finally:
                    os.close(below)
    return removed


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or entry.is_file(follow_symlinks=False)
