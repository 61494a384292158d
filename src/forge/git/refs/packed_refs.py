"""The packed-refs file, changed under git's own lock.

libgit2 reads the file before it takes that lock, so a ref it deletes while `git pack-refs` runs can come back,
and refs that git has just packed can get lost. Forge therefore deletes refs itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.git.process import disk
from forge.git.process.liveness import mark_of_this_process

MARKED = "packed-refs.lock-"
"""What the name of a lock begins with before it is one."""
_HEADER = b"# pack-refs with: peeled fully-peeled sorted \n"


def lock_path(common_dir: Path) -> Path:
    return common_dir / "packed-refs.lock"


@contextmanager
def locked(common_dir: Path, scratch: Path) -> Iterator[None]:
    """Hold the lock, with this process's mark in it, so that others can tell whether its owner is alive."""
    lock = lock_path(common_dir)
    try:
        _take(lock, scratch)
    except FileExistsError as e:
        raise FileExistsError(e.errno, "the lock is taken", str(lock)) from e
    try:
        yield
    finally:
        lock.unlink()


def _take(lock: Path, scratch: Path) -> None:
    """The mark is in it from its first moment: an empty one, left by a process that died, would be nobody's."""
    mark = mark_of_this_process().encode()
    marked = scratch / f"{MARKED}{os.urandom(8).hex()}"
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        try:
            disk.write_new(marked, mark)
            os.link(marked, lock)
        finally:
            marked.unlink(missing_ok=True)
    except FileExistsError:
        raise
    except OSError:
        # A full disk can still lose a ref, and not every disk has hard links.
        with open(lock, "xb", buffering=0) as file, suppress(OSError):
            file.write(mark)


def contents(common_dir: Path) -> bytes:
    try:
        with open(f"{common_dir}/packed-refs", "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def remove(common_dir: Path, ref: str) -> None:
    """Take `ref` out, durably. The caller holds the lock."""
    old = contents(common_dir)
    if f" {ref}\n".encode() in old:
        _replace(common_dir, b"".join(_without(old, ref)))


def put(common_dir: Path, ref: str, target: str) -> None:
    """Add `ref`, durably and in order. The caller holds the lock, and `target` is no tag."""
    lines = _without(contents(common_dir) or _HEADER, ref)
    name = ref.encode()
    place = next((at for at, line in enumerate(lines) if line[0] not in b"#^" and line[41:-1] > name), len(lines))
    _replace(common_dir, b"".join([*lines[:place], b"%s %s\n" % (target.encode(), name), *lines[place:]]))


def _without(data: bytes, ref: str) -> list[bytes]:
    kept: list[bytes] = []
    dropped = False
    for line in data.splitlines(keepends=True):
        # A line with ^ belongs to the tag before it.
        dropped = line.endswith(f" {ref}\n".encode()) or (dropped and line.startswith(b"^"))
        if not dropped:
            kept.append(line)
    return kept


def _replace(common_dir: Path, data: bytes) -> None:
    place = Path(os.path.realpath(common_dir / "packed-refs"))
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o644
    disk.replace_synced(place, data, mode=mode)
