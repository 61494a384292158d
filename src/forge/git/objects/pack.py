"""Writes the objects of one commit as one pack that is on the disk before its name is visible.

Order: `.keep`, pack synced, index synced, both renamed, directory synced. The `.keep` file stays until the
branch points at the commit, so that no `git gc --prune=now` of somebody else can take the objects in between.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from isal import isal_zlib

from forge.git.process import disk
from forge.git.process.liveness import mark_of_this_process

if TYPE_CHECKING:
    from forge.git.objects.raw_object import RawObject
    from forge.git.values import ObjectId

_FAST = 1
# Packs of Forge can be distinguished from others by their name, also when a power cut has emptied the file beside them.
_SIGN = "f0e6e001"


def is_ours(stem: str) -> bool:
    return stem.startswith(f"pack-{_SIGN}")


@contextmanager
def written(objects_dir: Path, scratch: Path, objects: Mapping[ObjectId, RawObject]) -> Iterator[None]:
    """Objects are durable inside the block, and safe from every gc until it ends."""
    folder = f"{objects_dir}/pack"
    stem = f"pack-{_SIGN}{os.urandom(16).hex()}"
    keep = f"{folder}/{stem}.keep"
    with disk.reporting():
        for place in (folder, scratch):
            if not os.path.isdir(place):
                os.makedirs(place, exist_ok=True)
        disk.write_new(keep, mark_of_this_process().encode())
    try:
        with disk.reporting():
            _place(folder, scratch, stem, objects)
        yield
    finally:
        with suppress(OSError):
            os.unlink(keep)


def _place(folder: str, scratch: Path, stem: str, objects: Mapping[ObjectId, RawObject]) -> None:
    pack, index = _encoded(objects)
    # A pack without its index is invisible to git, so the index comes last.
    files = {f"{stem}.pack": pack, f"{stem}.idx": index}
    try:
        for name, data in files.items():
            disk.write_synced(f"{scratch}/{name}", data, mode=0o444)
        for name in files:
            os.rename(f"{scratch}/{name}", f"{folder}/{name}")
        disk.sync_directory(folder)
    except BaseException:
        for name in files:
            for leftover in (f"{scratch}/{name}", f"{folder}/{name}"):
                with suppress(OSError):
                    os.unlink(leftover)
        raise


def _encoded(objects: Mapping[ObjectId, RawObject]) -> tuple[bytes, bytes]:
    parts = [struct.pack(">4sII", b"PACK", 2, len(objects))]
    offset = len(parts[0])
    rows: list[tuple[bytes, int, int]] = []
    for oid, (kind, data) in objects.items():
        packed = _header(kind, len(data)) + isal_zlib.compress(data, _FAST)
        rows.append((bytes.fromhex(oid), zlib.crc32(packed), offset))
        parts.append(packed)
        offset += len(packed)
    body = b"".join(parts)
    checksum = hashlib.sha1(body).digest()
    return body + checksum, _index(sorted(rows), checksum)


def _header(kind: int, size: int) -> bytes:
    """Type and size as a variable-length number: four bits of size first, then seven a byte."""
    byte = kind << 4 | size & 0x0F
    size >>= 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    out.append(byte)
    return bytes(out)


def _index(rows: list[tuple[bytes, int, int]], pack_checksum: bytes) -> bytes:
    """Index version 2: counts by first byte, ids, checksums, offsets, large offsets, two trailers."""
    counts = [0] * 256
    for oid, _, _ in rows:
        counts[oid[0]] += 1
    large = [offset for _, _, offset in rows if offset >= 1 << 31]
    positions = {offset: place | 1 << 31 for place, offset in enumerate(large)}
    body = b"".join(
        (
            b"\xfftOc\x00\x00\x00\x02",
            struct.pack(">256I", *accumulate(counts)),
            b"".join(oid for oid, _, _ in rows),
            struct.pack(f">{len(rows)}I", *(crc for _, crc, _ in rows)),
            struct.pack(f">{len(rows)}I", *(positions.get(offset, offset) for _, _, offset in rows)),
            struct.pack(f">{len(large)}Q", *large),
            pack_checksum,
        )
    )
    return body + hashlib.sha1(body).digest()
