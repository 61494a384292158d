"""A git index of Forge's own making: what each file of a directory holds, and how it looked when we wrote it.

git compares whole seconds only. A change in the very second that a file was written in may hide from it: in looks that
are so young we have to compare the rest of the time ourselves.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from forge.git.materialize.files import file_mode
from forge.git.values import Entry, ObjectId

_HEAD = struct.Struct(">10I20sH")
_LONGEST_NAME = 0xFFF
# When a file was last changed, and its inode.
_CHANGED = struct.Struct(">2I12xI")
_WORD = 0xFFFFFFFF
_SECOND = 1_000_000_000

Record = bytes
"""One entry without its path, as the index has it."""


class IndexDamaged(ValueError):
    """The index is not as Forge wrote it."""


class Look(NamedTuple):
    """How a file looked: change any of its bytes, put the old time stamps back, and `changed` still differs."""

    modified: int
    changed: int
    size: int
    inode: int
    device: int
    user: int
    group: int
    mode: int


def look(found: os.stat_result) -> Look:
    return Look(
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_size,
        found.st_ino,
        found.st_dev,
        found.st_uid,
        found.st_gid,
        found.st_mode,
    )


def record(path: bytes, entry: Entry, seen: Look | None) -> Record:
    """An entry for `path`. Without a look, git will compare the content each time."""
    mode, oid, flags = file_mode(entry.mode), bytes.fromhex(entry.id), min(len(path), _LONGEST_NAME)
    if seen is None:
        return _HEAD.pack(0, 0, 0, 0, 0, 0, mode, 0, 0, 0, oid, flags)
    return _HEAD.pack(
        seen.changed // _SECOND & _WORD,
        seen.changed % _SECOND,
        seen.modified // _SECOND & _WORD,
        seen.modified % _SECOND,
        seen.device & _WORD,
        seen.inode & _WORD,
        mode,
        seen.user & _WORD,
        seen.group & _WORD,
        seen.size & _WORD,
        oid,
        flags,
    )


def entry_of(record: Record) -> Entry:
    fields = _HEAD.unpack(record)
    return Entry(fields[6], ObjectId(fields[10].hex()))


def write(file: Path, records: Mapping[bytes, Record]) -> int:
    """Make the index; its size."""
    parts = [b"DIRC" + struct.pack(">2I", 2, len(records))]
    for path in sorted(records):
        parts.append(records[path])
        parts.append(path)
        parts.append(bytes(8 - (_HEAD.size + len(path)) % 8))
    data = b"".join(parts)
    beside = file.with_name(f"{file.name}.new")
    size = beside.write_bytes(data + hashlib.sha1(data).digest())
    os.replace(beside, file)
    return size


class Young(NamedTuple):
    """When the files of an index were written so lately that a change may hide from git."""

    since: int
    """A file changed before, by the clock of the file system, has another time stamp after any later change."""
    until: int
    """From then on a change falls into a later second than any in the index."""
    whole: bool
    """Whether that goes for nearly every file."""


def believed(file: Path, began: int) -> Young:
    """Let git believe every look in a new index, whose files nobody else can have changed since `began`."""
    since = file.stat().st_ctime_ns
    until = (since // _SECOND + 1) * _SECOND
    os.utime(file, ns=(until, until))
    return Young(since, until, whole=began // _SECOND == since // _SECOND)


def uncertain(records: Mapping[bytes, Record], files: int, young: Young) -> Iterator[bytes]:
    """Young paths in the open folder `files` that may have changed."""
    oldest = b"" if young.whole else _CHANGED.pack(young.since // _SECOND & _WORD, 0, 0)
    for path, known in records.items():
        if known < oldest:
            continue
        second, rest, inode = _CHANGED.unpack_from(known)
        try:
            found = os.stat(path, dir_fd=files, follow_symlinks=False)
        except OSError:
            yield path
            continue
        now = found.st_ctime_ns
        alike = now % _SECOND == rest and now // _SECOND & _WORD == second and found.st_ino & _WORD == inode
        if now >= young.since or not alike:
            yield path


def read(file: Path) -> dict[bytes, Record]:
    """Every entry by path. The file is Forge's own; anything else in its place raises `Damaged`."""
    data = file.read_bytes()
    if data[:8] != b"DIRC\0\0\0\2" or hashlib.sha1(data[:-20]).digest() != data[-20:]:
        raise IndexDamaged(f"{file} is not an index that Forge wrote")
    (count,) = struct.unpack_from(">I", data, 8)
    records: dict[bytes, Record] = {}
    at = 12
    for _ in range(count):
        name = at + _HEAD.size
        end = data.index(b"\0", name)
        records[data[name:end]] = data[at:name]
        at = end + 8 - (end - at) % 8
    return records
