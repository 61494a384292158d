"""Reads many blobs from git, in the order asked for."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from forge.git.objects.contents import Contents
from forge.git.objects.object_reader import read_many
from forge.git.search.segments import Stored
from forge.git.values import Entry, Mode, ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

MOST_STORED = 1 << 20
"""Larger blobs are not kept as text; they are read when a query allows for their size."""
MOST_BINARY = 64 << 10
"""Larger binary files are never looked into."""

_LOOK = 8000
_FEW = 24


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


def contents(objects: Objects, ids: Sequence[bytes]) -> Generator[bytes, None, None]:
    """What the blobs hold."""
    named = [ObjectId(oid.hex()) for oid in ids]
    if len(named) <= _FEW:
        yield from map(objects.blob, named)
    else:
        with closing(read_many(objects, named)) as blobs:
            for blob in blobs:
                yield blob.data


def stored(objects: Objects, ids: Sequence[bytes]) -> Generator[Stored, None, None]:
    """Blobs as the text cache keeps them."""
    lengths = dict(zip(ids, sizes(objects, ids), strict=True))
    with closing(contents(objects, [oid for oid in ids if lengths[oid] <= MOST_STORED])) as texts:
        for oid in ids:
            text = next(texts) if lengths[oid] <= MOST_STORED else None
            if text is not None and len(text) > MOST_BINARY and is_binary(text):
                text = None
            yield Stored(oid, lengths[oid], text)
