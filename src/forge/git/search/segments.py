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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from isal import isal_zlib

from forge.git.search import signatures
from forge.git.search.literals import Literals

MOST_BLOBS = 8192
MOST_BYTES = 64 << 20
_SIGNED_FROM = 64
"""With fewer texts it is quicker to look into each."""
_MARK = b"forge search 1 " + sys.byteorder[:1].encode()
_FOOT = struct.Struct("<QII")
_HEAD = struct.Struct("<QII")
_WINDOW = 256 << 10


class Damaged(Exception):
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
            raise Damaged(path) from e
        weakref.finalize(self, os.close, self._fd)
        try:
            self.stamp = _stamp(os.fstat(self._fd))
            self._load()
        except (OSError, struct.error, ValueError) as e:
            raise Damaged(path) from e
        self._sound = bytearray(len(self.ids))
        self._rows: dict[int, int] = {}

    def _load(self) -> None:
        size = self.bytes = self.stamp[1]
        length, checksum, _ = _FOOT.unpack(os.pread(self._fd, _FOOT.size, size - _FOOT.size))
        if length > size - _FOOT.size:
            raise Damaged(self.path)
        index = os.pread(self._fd, length, size - _FOOT.size - length)
        if isal_zlib.crc32(index) != checksum or os.pread(self._fd, len(_MARK), 0) != _MARK:
            raise Damaged(self.path)
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
            raise Damaged(self.path)

    def unchanged(self) -> bool:
        """Whether the file still is what was opened, as far as its name, size and times tell."""
        try:
            return _stamp(os.stat(self.path)) == self.stamp
        except OSError:
            return False

    def text(self, slot: int, window: Window) -> bytes | None:
        """What the blob holds, or None when only its size is kept; `Damaged` when the disk has something else."""
        start, size = self._starts[slot], self.sizes[slot]
        if not start:
            return None
        text = window.read(self._fd, start, size)
        if len(text) != size:
            raise Damaged(self.path)
        if not self._sound[slot]:
            if isal_zlib.crc32(text) != self._checksums[slot]:
                raise Damaged(self.path)
            self._sound[slot] = 1
        return text

    def candidates(self, literals: Literals) -> Iterable[bytes]:
        """Ids of the blobs that can have a match."""
        if not self._width:
            return self.ids
        bits = -1
        for clause in literals.clauses:
            if min(map(len, clause)) >= signatures.SHORTEST:
                some = 0
                for string in clause:
                    some |= self._all_of(signatures.asked(string))
                bits &= some
                if not bits:
                    return ()
        return self.ids if bits == -1 else signatures.chosen(self.ids, bits)

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
                raise Damaged(self.path)
            known = int.from_bytes(raw, "little")
            if len(self._rows) > 512:
                self._rows.clear()
            self._rows[row] = known
        return known


class Window:
    """The part of a segment read last; texts that lie in a row are read in one go."""

    def __init__(self) -> None:
        self._fd, self._start, self._data, self._next = -1, 0, b"", -1

    def read(self, fd: int, start: int, size: int) -> bytes:
        if fd == self._fd:
            inside = start - self._start
            if inside >= 0 and inside + size <= len(self._data):
                return self._data[inside : inside + size]
            near = 0 <= start - self._next < _WINDOW // 4
            self._next = start + size
            if near and size < _WINDOW:
                self._data, self._start = os.pread(fd, _WINDOW, start), start
                return self._data[:size]
        else:
            self._fd, self._data, self._next = fd, b"", start + size
        return os.pread(fd, size, start)


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
