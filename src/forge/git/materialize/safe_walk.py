"""Ways down into a directory that commands have written in: one name at a time and never through a symlink."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from forge.git.materialize import sweep

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What opening a name as a folder says when it is a file, a symlink or nothing.
NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
# Of deeper folders only the last one is kept open: a process may have a few hundred files open.
_KEPT_OPEN = 32


class Descent:
    """Keeps the folders on the way to the last path open, so that files in sorted order cost one step each."""

    def __init__(self, root: Path) -> None:
        self._fds = [os.open(root, FOLDER)]
        self._names: list[bytes] = []
        self._deep: int | None = None
        self._last: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(0)
        os.close(self._fds.pop())

    @property
    def root(self) -> int:
        return self._fds[0]

    def folder(self, path: bytes, *, create: bool = False) -> int:
        """The open folder at `path`. Creating: whatever is in its place goes; else an `OSError` tells."""
        if path == self._last:
            return self._fds[-1] if self._deep is None else self._deep
        self._last = None
        names = path.split(b"/") if path else []
        near, far = names[:_KEPT_OPEN], names[_KEPT_OPEN:]
        same = 0
        for mine, wanted in zip(self._names, near, strict=False):
            if mine != wanted:
                break
            same += 1
        self._leave(same)
        for name in near[same:]:
            self._fds.append(_opened(self._fds[-1], name, create=create))
            self._names.append(name)
        if far:
            self._deep = self._far_down(far, create=create)
        self._last = path
        return self._fds[-1] if self._deep is None else self._deep

    def place(self, path: bytes, *, create: bool = False) -> tuple[int, bytes]:
        """The open folder in which `path` is, and its name there."""
        folder, _, name = path.rpartition(b"/")
        return self.folder(folder, create=create), _downwards(name)

    def status(self, path: bytes) -> os.stat_result | None:
        """What is at `path` itself; None if nothing is, or if the way there is none of folders."""
        try:
            folder, name = self.place(path)
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as e:
            if e.errno in NO_FOLDER:
                return None
            raise

    def _far_down(self, names: list[bytes], *, create: bool) -> int:
        here = os.dup(self._fds[-1])
        for name in names:
            try:
                below = _opened(here, name, create=create)
            finally:
                os.close(here)
            here = below
        return here

    def _leave(self, depth: int) -> None:
        if self._deep is not None:
            os.close(self._deep)
            self._deep = None
        while len(self._names) > depth:
            self._names.pop()
            os.close(self._fds.pop())


def _downwards(name: bytes) -> bytes:
    """Whatever a tree or a record says: there is no way out of the directory."""
    if name in (b"", b".", b".."):
        raise OSError(errno.EINVAL, "Not a name in a folder", name)
    return name


def _opened(above: int, name: bytes, *, create: bool) -> int:
    _downwards(name)
    if not create:
        return os.open(name, FOLDER, dir_fd=above)
    try:
        return os.open(name, FOLDER, dir_fd=above)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=above)
        return os.open(name, FOLDER, dir_fd=above)
    except OSError as e:
        if e.errno not in NO_FOLDER:
            raise
        if e.errno != errno.ENOENT:
            sweep.remove(above, name)
    with sweep.writable(above):
        os.mkdir(name, 0o755, dir_fd=above)
    return os.open(name, FOLDER, dir_fd=above)


def is_folder(found: os.stat_result | None) -> bool:
    return found is not None and stat.S_ISDIR(found.st_mode)
