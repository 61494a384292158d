"""Keeps git's commit-graph file fresh, without which the first page of a long history takes seconds."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import GitFailed, RevisionMissing
from forge.git.history.commit_log import refs_at

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import CommitId

MIN_COMMITS = 2_000
"""Shorter histories are fast without the file."""
MAX_UNKNOWN = 1_000
"""So many commits outside the file are read one by one without being felt."""

_SIGNATURE = b"CGPH"
_HEADER = struct.Struct(">4s4B")
_CHUNK = struct.Struct(">4sQ")
_FAN_OUT = 256 * 4


def refresh_commit_graph(objects: Objects) -> bool:
    """Write the file if it is missing or far behind. True if it was written; nothing ever depends on that."""
    # In a shallow clone git refuses the file, as parents may appear later.
    if (objects.common_dir / "shallow").exists() or not _is_stale(objects):
        return False
    try:
        # Generation numbers of version 1 are the only ones that libgit2 uses.
        objects.git.run(
            *("-c", "commitGraph.generationVersion=1", "-c", "core.commitGraph=true"),
            *("commit-graph", "write", "--reachable", "--split", "--no-progress"),
        )
    except GitFailed:
        # Another git holds the lock, or the disk is full or read-only: reads are slower, and right.
        return False
    return True


def _is_stale(objects: Objects) -> bool:
    graphs = [ids for path in _files(objects.objects_dir) if (ids := _Ids.read(path))]
    if not graphs and _object_count(objects.objects_dir) < MIN_COMMITS:
        return False
    enough = MAX_UNKNOWN if graphs else MIN_COMMITS
    return _unknown(objects, refs_at(objects), graphs, enough) >= enough


def _unknown(objects: Objects, tips: Iterable[CommitId], graphs: list[_Ids], enough: int) -> int:
    """How many commits no file knows, counted up to `enough`."""
    seen: set[CommitId] = set()
    waiting = [*tips]
    while waiting and len(seen) < enough:
        commit = waiting.pop()
        if commit in seen or any(commit in ids for ids in graphs):
            continue
        seen.add(commit)
        try:
            waiting += objects.commit(commit).parents
        except RevisionMissing:  # a clone without all objects; git itself stops there too
            continue
    return len(seen)


def _files(objects_dir: Path) -> list[Path]:
    """The files git would read: a chain, or one for all."""
    folder = objects_dir / "info" / "commit-graphs"
    try:
        names = (folder / "commit-graph-chain").read_text().split()
    except (OSError, ValueError):
        names = []
    chain = [folder / f"graph-{name}.graph" for name in names]
    return [objects_dir / "info" / "commit-graph", *chain]


class _Ids:
    """The sorted ids in one commit-graph file, looked up where they lie."""

    def __init__(self, file: mmap.mmap, start: int, counts: tuple[int, ...]) -> None:
        self._file = file
        self._start = start
        self._counts = counts

    @classmethod
    def read(cls, path: Path) -> _Ids | None:
        """None if there is no such file or it is not one that we can read."""
        try:
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            signature, _, _, chunks, _ = _HEADER.unpack_from(data)
            places = dict(_CHUNK.unpack_from(data, _HEADER.size + _CHUNK.size * n) for n in range(chunks))
            counts = struct.unpack_from(">256I", data, places[b"OIDF"])
        except (OSError, ValueError, struct.error, KeyError):
            return None
        return cls(data, places[b"OIDL"], counts) if signature == _SIGNATURE and b"OIDL" in places else None

    def __contains__(self, commit: CommitId) -> bool:
        wanted = bytes.fromhex(commit)
        low = self._counts[wanted[0] - 1] if wanted[0] else 0
        high = self._counts[wanted[0]]
        while low < high:
            middle = (low + high) // 2
            place = self._start + middle * 20
            found = self._file[place : place + 20]
            if found == wanted:
                return True
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return False


def _object_count(objects_dir: Path) -> int:
    """About how many objects there are, at the cost of listing a few folders; never too few by much."""
    folder = objects_dir / "pack"
    packed = sum(_index_count(path) for path in folder.glob("*.idx"))
    try:
        # Ids spread evenly, so one of the 256 folders tells for all.
        loose = 256 * len(os.listdir(objects_dir / "17"))
    except OSError:
        loose = 0
    return packed + loose


def _index_count(path: Path) -> int:
    try:
        with path.open("rb") as file:
            file.seek(8 + _FAN_OUT - 4)
            return int(struct.unpack(">I", file.read(4))[0])
    except (OSError, struct.error):
        return 0
