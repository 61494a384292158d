"""Reads many blobs from git, in the order asked for."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Self

from forge.git.command import arguments, environment
from forge.git.contents import Contents
from forge.git.errors import GitFailed
from forge.git.objects import Objects
from forge.git.search import children
from forge.git.search.segments import Stored
from forge.git.values import Entry, Mode, ObjectId

MOST_STORED = 1 << 20
"""Larger blobs are not kept as text; they are read when a query allows for their size."""
MOST_BINARY = 64 << 10
"""Larger binary files are never looked into."""

_LOOK = 8000
_FEW = 24
# Two of these are on their way at a time; together they fit into a pipe, so that nobody waits for the other.
_ASKED = 256


def is_binary(data: bytes) -> bool:
    """As git decides it without attributes: a NUL near the start."""
    return data.find(b"\0", 0, _LOOK) >= 0


def sizes(objects: Objects, ids: Sequence[bytes]) -> list[int]:
    """The sizes of blobs, without reading them."""
    if len(ids) <= _FEW:
        contents = Contents(objects)
        return [contents.size(Entry(Mode.FILE, ObjectId(oid.hex()))) for oid in ids]
    asked = "\n".join(oid.hex() for oid in ids) + "\n"
    told = objects.git.run("cat-file", "--batch-check=%(objectsize)", "--buffer", stdin=asked.encode()).stdout
    found = told.split(b"\n")[: len(ids)]
    return [
        int(size) if size.isdigit() else len(objects.read(ObjectId(oid.hex())).data)
        for oid, size in zip(ids, found, strict=True)
    ]


class BlobReader:
    """One `git cat-file` that answers until the block is left; for a few blobs none is started."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            children.end(self._process)

    def contents(self, ids: Iterable[bytes]) -> Generator[bytes, None, None]:
        """What the blobs hold. All that was asked for must be taken before asking again."""
        rest = iter(ids)
        now = list(islice(rest, _ASKED))
        if len(now) <= _FEW and self._process is None:
            for oid in now:
                yield self._objects.blob(ObjectId(oid.hex()))
            return
        self._ask(now)
        while now:
            following = list(islice(rest, _ASKED))
            self._ask(following)
            for oid in now:
                yield self._answer(oid)
            now = following

    def stored(self, ids: Sequence[bytes]) -> Iterator[Stored]:
        """Blobs as the text cache keeps them."""
        lengths = dict(zip(ids, sizes(self._objects, ids), strict=True))
        texts = self.contents(oid for oid in ids if lengths[oid] <= MOST_STORED)
        for oid in ids:
            text = next(texts) if lengths[oid] <= MOST_STORED else None
            if text is not None and len(text) > MOST_BINARY and is_binary(text):
                text = None
            yield Stored(oid, lengths[oid], text)

    def _ask(self, ids: Sequence[bytes]) -> None:
        if not ids:
            return
        if self._process is None:
            self._process = _started(self._objects)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"".join([oid.hex().encode() + b"\n" for oid in ids]))
            self._process.stdin.flush()
        except OSError as e:
            raise _ended() from e

    def _answer(self, oid: bytes) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        head = self._process.stdout.readline()
        if not head:
            raise _ended()
        _, kind, *size = head.split()
        if kind != b"blob":
            return self._objects.read(ObjectId(oid.hex())).data
        data = self._process.stdout.read(int(size[0]) + 1)
        if len(data) != int(size[0]) + 1:
            raise _ended()
        return data[:-1]


def _started(objects: Objects) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments(objects.git_dir, ["cat-file", "--batch"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=objects.git_dir,
            bufsize=1 << 16,
        )
    except OSError as e:
        raise GitFailed(f"git could not be started: {e}", hint="Install git and put it on PATH.") from e


def _ended() -> GitFailed:
    return GitFailed("git cat-file ended early.", hint="Run `git fsck` on the repository.")
