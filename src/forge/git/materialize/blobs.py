"""The contents of many files, read by a git process beside this one: it inflates while we write."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import IO

from forge.git.command import arguments, environment
from forge.git.errors import GitFailed
from forge.git.objects import Objects
from forge.git.pack import object_id
from forge.git.values import Entry, Kind, ObjectId

# Starting git costs as much as reading so many blobs ourselves.
_FEW = 64

File = tuple[str, Entry, bytes | None]
"""Path, entry, content; no content if the entry names something that is no blob."""


def contents(
    objects: Objects, files: Sequence[tuple[str, Entry]], unwritten: Mapping[ObjectId, bytes]
) -> Generator[File]:
    """Each file with its content, in the order given. `unwritten` are blobs that no repository has yet."""
    stored = [entry.id for _, entry in files if entry.id not in unwritten and not entry.is_submodule]
    read = _by_git(objects, stored) if len(stored) > _FEW else (_by_us(objects, oid) for oid in stored)
    for path, entry in files:
        if entry.is_submodule:
            yield path, entry, b""
        elif entry.id in unwritten:
            yield path, entry, unwritten[entry.id]
        else:
            yield path, entry, next(read)


def _by_us(objects: Objects, oid: ObjectId) -> bytes | None:
    data = objects.blob(oid)  # often in memory, as it was just committed
    return data if object_id(Kind.BLOB, data) == oid else None


def _by_git(objects: Objects, ids: Sequence[ObjectId]) -> Iterator[bytes | None]:
    command = arguments(objects.git_dir, ["cat-file", "--batch", "--buffer"])
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=objects.git_dir,
            bufsize=1 << 20,
        )
    except OSError as e:
        raise GitFailed(f"git could not be started: {e}", hint="Install git and make sure it is on PATH.") from e
    assert process.stdin is not None
    assert process.stdout is not None
    feeder = threading.Thread(target=_feed, args=(process.stdin, ids), daemon=True)
    feeder.start()
    try:
        for oid in ids:
            yield _next(objects, oid, process.stdout)
    finally:
        process.kill()
        feeder.join()
        process.stdout.close()
        process.wait()


def _feed(pipe: IO[bytes], ids: Sequence[ObjectId]) -> None:
    try:
        with pipe:
            pipe.write("".join(f"{oid}\n" for oid in ids).encode())
    except BrokenPipeError:
        return  # the reader stopped early and ended git


def _next(objects: Objects, oid: ObjectId, pipe: IO[bytes]) -> bytes | None:
    head = pipe.readline().split()
    if len(head) == 3:
        size = int(head[2])
        data = pipe.read(size + 1)[:-1]
        if len(data) == size:
            return data if head[1] == b"blob" else None
    # Missing, or git gave up: reading it ourselves succeeds or says why.
    return _by_us(objects, oid)
