"""One file of the text cache: contents of blobs, their signatures and an index. Written once, never changed.

Layout: mark · texts · signature rows · index · foot. The index has a checksum of itself, of each text and of each row;
what is used is checked first. A file cut short or damaged is therefore noticed, and nothing needs to be synced.
"""

from __future__ import annotations

import os
import struct
import sys
import weakref
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from isal import isal_zlib

from forge.git.search import signatures
from forge.git.search.literals import SHORTEST, Literals

MOST_BLOBS = 8192
MOST_BYTES = 64 << 20
_SIGNED_FROM = 64
"""With fewer texts it is quicker to look into each."""
_MARK = b"forge search 1 " + sys.byteorder[:1].encode()
_FOOT = struct.Struct("<QII")
_HEAD = struct.Struct("<QII")
_WINDOW = 256 << 10
_NEAR = 4 << 10


class SegmentDamaged(Exception):
    """A segment is not what was written. Never leaves the search, which then reads from git."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


class Stored(NamedTuple):
    """A blob for the cache. Without text it is only known: too large, or large and binary."""

    id: bytes
    size: int
    text: bytes | None


class Segment:
    """A segment opened for reading. Readers are not disturbed when the file is deleted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as e:
            raise SegmentDamaged(path) from e
        weakref.finalize(self, os.close, self._fd)
        try:
            self.stamp = _stamp(os.fstat(self._fd))
            self._load()
        except (OSError, struct.error, ValueError) as e:
            raise SegmentDamaged(path) from e
        self._sound = bytearray(len(self.ids))
        self._rows: dict[int, int] = {}

    def _load(self) -> None:
        size = self.bytes = self.stamp[1]
        length, checksum, _ = _FOOT.unpack(os.pread(self._fd, _FOOT.size, size - _FOOT.size))
        if length > size - _FOOT.size:
            raise SegmentDamaged(self.path)
        index = os.pread(self._fd, length, size - _FOOT.size - length)
        if isal_zlib.crc32(index) != checksum or os.pread(self._fd, len(_MARK), 0) != _MARK:
            raise SegmentDamaged(self.path)
        self._texts_end, count, self._width = _HEAD.unpack_from(index)
        at = _HEAD.size
        self.ids = [index[place : place + 20] for place in range(at, at + 20 * count, 20)]
        at += 20 * count
        columns = []
        for code, length in (("Q", count), ("Q", count), ("I", count), ("I", signatures.ROWS if self._width else 0)):
            column = array(code)
            column.frombytes(index[at : at + length * column.itemsize])
            at += length * column.itemsize
            columns.append(column)
        self.sizes, self._starts, self._checksums, self._row_checksums = columns
        if at != len(index) or self._texts_end + signatures.ROWS * self._width + at + _FOOT.size != size:
            raise SegmentDamaged(self.path)

    def unchanged(self) -> bool:
        """Whether the file still is what was opened, as far as its name, size and times tell."""
        try:
            return _stamp(os.stat(self.path)) == self.stamp
        except OSError:
            return False

    def text(self, slot: int, window: Window) -> bytes | None:
        """What the blob holds, or None when only its size is kept; `Damaged` when the disk has something else."""
        start = self._starts[slot]
        if not start:
            return None
        size = self.sizes[slot]
        inside = start - window.start
        if window.fd == self._fd and inside >= 0 and start + size <= window.end:
            text = window.data[inside : inside + size]
        else:
            text = window.moved(self._fd, start, size)
            if len(text) != size:
                raise SegmentDamaged(self.path)
        if not self._sound[slot]:
            if isal_zlib.crc32(text) != self._checksums[slot]:
                raise SegmentDamaged(self.path)
            self._sound[slot] = 1
        return text

    def candidates(self, literals: Literals) -> int:
        """A bit for each blob that can have a match."""
        bits = (1 << len(self.ids)) - 1
        if not self._width:
            return bits
        for clause in literals.clauses:
            if min(map(len, clause)) >= SHORTEST:
                some = 0
                for string in clause:
                    some |= self._all_of(signatures.asked(string))
                bits &= some
        return bits

    def _all_of(self, rows: Sequence[int]) -> int:
        bits = -1
        for row in rows:
            bits &= self._row(row)
            if not bits:
                break
        return bits

    def _row(self, row: int) -> int:
        known = self._rows.get(row)
        if known is None:
            raw = os.pread(self._fd, self._width, self._texts_end + row * self._width)
            if len(raw) != self._width or isal_zlib.crc32(raw) != self._row_checksums[row]:
                raise SegmentDamaged(self.path)
            known = int.from_bytes(raw, "little")
            if len(self._rows) > 512:
                self._rows.clear()
            self._rows[row] = known
        return known


class Window:
    """The part of a segment read last. Texts side by side are read in one go, more each time it continues like that."""

    def __init__(self) -> None:
        self.fd, self.start, self.end, self.data = -1, 0, 0, b""
        self._ahead = 0

    def moved(self, fd: int, start: int, size: int) -> bytes:
        """Read from another place than before."""
        near = fd == self.fd and 0 <= start - self.end < _NEAR
        self._ahead = min(max(_NEAR, 2 * self._ahead), _WINDOW) if near else 0
        self.data = os.pread(fd, max(size, self._ahead), start)
        self.fd, self.start, self.end = fd, start, start + len(self.data)
        return self.data[:size]


def size_of(blobs: Sequence[Stored]) -> int:
    """About how long the file of a segment with these blobs is."""
    texts = sum(len(blob.text or b"") for blob in blobs)
    return texts + 40 * len(blobs) + signatures.ROWS * (4 + signatures.width(len(blobs)))


def write(path: Path, blobs: Sequence[Stored]) -> None:
    """Write a segment under a name that readers do not look at."""
    starts, checksums = array("Q"), array("I")
    at = len(_MARK)
    with path.open("wb") as file:
        file.write(_MARK)
        for blob in blobs:
            text = blob.text
            starts.append(0 if text is None else at)
            checksums.append(0 if text is None else isal_zlib.crc32(text))
            if text:
                file.write(text)
                at += len(text)
        wide = signatures.width(len(blobs)) if len(blobs) >= _SIGNED_FROM else 0
        table = signatures.table((blob.text or b"" for blob in blobs), len(blobs)) if wide else b""
        file.write(table)
        rows = array("I", [isal_zlib.crc32(table[row : row + wide]) for row in range(0, len(table), wide or 1)])
        index = b"".join(
            (
                _HEAD.pack(at, len(blobs), wide),
                b"".join([blob.id for blob in blobs]),
                array("Q", [blob.size for blob in blobs]).tobytes(),
                starts.tobytes(),
                checksums.tobytes(),
                rows.tobytes(),
            )
        )
        file.write(index + _FOOT.pack(len(index), isal_zlib.crc32(index), 0))


def _stamp(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
