"""Files of a project directory as git would keep them: mode and bytes, read whole and replaced whole."""

from __future__ import annotations

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


def put(root: Path, path: str, content: OnDisk) -> None:
    """Replace `path` in one moment, durably."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if content.mode == Mode.SYMLINK:
        beside = place.with_name(f".{place.name}.{os.getpid()}.{os.urandom(4).hex()}")
        os.symlink(os.fsdecode(content.data), beside)
        os.replace(beside, place)
        disk.sync_directory(place.parent)
    else:
        disk.replace_synced(place, content.data, mode=0o755 if content.mode == Mode.EXECUTABLE else 0o644)


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
