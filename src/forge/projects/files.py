"""Files of a project directory as git would keep them: mode and bytes, read whole and replaced whole."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from forge.git import Entry, Mode, ObjectId, StorageFailed
from forge.git.objects.raw_object import object_id
from forge.git.process import disk
from forge.git.values import ObjectKind
from forge.projects.errors import ProjectUnwritable

Mark = tuple[int, int, int, int, int]
"""What changes whenever a file does: inode, size, two times, mode."""


class OnDisk(NamedTuple):
    mode: int
    data: bytes

    @property
    def entry(self) -> Entry:
        return Entry(self.mode, ObjectId(object_id(ObjectKind.BLOB, self.data)))


def found(root: Path, path: str) -> OnDisk | None:
    """The file or link at `path`; None if there is nothing that git could keep."""
    place = root / path
    try:
        facts = os.lstat(place)
        if stat.S_ISLNK(facts.st_mode):
            return OnDisk(Mode.SYMLINK, os.fsencode(os.readlink(place)))
        if not stat.S_ISREG(facts.st_mode):
            return None
        mode = Mode.EXECUTABLE if facts.st_mode & stat.S_IXUSR else Mode.FILE
        return OnDisk(mode, place.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None


def marks(root: Path) -> dict[str, Mark]:
    """Every file and link below `root`, without git directories and repositories inside."""
    seen: dict[str, Mark] = {}
    folders = [""]
    while folders:
        prefix = folders.pop()
        with suppress(FileNotFoundError), os.scandir(f"{root}/{prefix}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git" and not os.path.lexists(f"{entry.path}/.git"):
                        folders.append(f"{prefix}{entry.name}/")
                    continue
                with suppress(FileNotFoundError):
                    seen[prefix + entry.name] = mark(entry.stat(follow_symlinks=False))
    return seen


def mark(facts: os.stat_result) -> Mark:
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode)


def put(root: Path, path: str, content: OnDisk, *, scratch: Path) -> None:
    """Replace `path` in one moment, durably."""
    replace(root, path, content, scratch=scratch, sync=True)
    disk.sync_directory((root / path).parent)


def replace(root: Path, path: str, content: OnDisk, *, scratch: Path, sync: bool = False) -> None:
    """Whoever opens `path` at any time finds the old file or all of the new one.

    The new one is made in `scratch`: what a crash leaves there is nobody's file.
    """
    place = root / path
    for folder in (place.parent, scratch):
        folder.mkdir(parents=True, exist_ok=True)
    name = f"file-{os.getpid()}-{os.urandom(8).hex()}"
    try:
        _moved(scratch / name, place, content, sync=sync)
    except OSError as e:
        if e.errno != errno.EXDEV:
            raise
        _moved(place.with_name(f".{name}"), place, content, sync=sync)  # the git directory is on another disk


def _moved(made: Path, place: Path, content: OnDisk, *, sync: bool) -> None:
    if content.mode == Mode.SYMLINK:
        os.symlink(os.fsdecode(content.data), made)
    else:
        # As git makes them: the umask of the person says who else may read and write.
        disk.write_new(made, content.data, mode=0o777 if content.mode == Mode.EXECUTABLE else 0o666, sync=sync)
    try:
        os.replace(made, place)
    except OSError:
        os.unlink(made)
        raise


def remove(root: Path, path: str) -> None:
    """Remove `path`, and the folders that it leaves empty."""
    place = root / path
    place.unlink(missing_ok=True)
    for folder in place.parents:
        if folder == root:
            break
        try:
            folder.rmdir()
        except OSError:  # not empty, or gone already
            break


def sync(root: Path, paths: list[str]) -> None:
    """Wait until the disk has these files; file systems take the name of a new one along."""
    for path in paths:
        if (root / path).is_file() and not (root / path).is_symlink():
            disk.sync_file(root / path)


@contextmanager
def reported() -> Iterator[None]:
    """Errors of the disk, as the project's own."""
    try:
        yield
    except StorageFailed as e:
        raise ProjectUnwritable(e.message, hint=e.hint) from e
    except OSError as e:
        failed = disk.storage_failed(e)
        raise ProjectUnwritable(failed.message, hint=failed.hint) from e
