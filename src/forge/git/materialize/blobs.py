"""The contents of many files, in the order they are written."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from forge.git.objects.object_reader import read_many
from forge.git.objects.raw_object import object_id
from forge.git.values import Entry, ObjectId, ObjectKind

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

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
    try:
        for path, entry in files:
            if entry.is_submodule:
                yield path, entry, b""
            elif entry.id in unwritten:
                yield path, entry, unwritten[entry.id]
            else:
                yield path, entry, next(read)
    finally:
        read.close()


def _by_us(objects: Objects, oid: ObjectId) -> bytes | None:
    data = objects.blob(oid)  # often in memory, as it was just committed
    return data if object_id(ObjectKind.BLOB, data) == oid else None


def _by_git(objects: Objects, ids: Sequence[ObjectId]) -> Generator[bytes | None]:
    """A git process beside this one inflates while we write."""
    found = read_many(objects, ids)
    try:
        for kind, data in found:
            yield data if kind == ObjectKind.BLOB else None
    finally:
        found.close()
