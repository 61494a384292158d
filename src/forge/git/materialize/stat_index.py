"""A git index of Forge's own making: what each file of a directory holds, and how it looked when we wrote it.

git compares whole seconds only, so a look is recorded only if any later change must show in one of them.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from forge.git.materialize.files import file_mode
from forge.git.values import Entry, ObjectId

_HEAD = struct.Struct(">10I20sH")
_LONGEST_NAME = 0xFFF
_WORD = 0xFFFFFFFF
_SECOND = 1_000_000_000

Record = bytes
"""One entry without its path, as the index has it."""


class Damaged(ValueError):
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


def record(path: bytes, entry: Entry, seen: Look | None, now: int) -> Record:
    """An entry for `path`. Without a usable look, git will compare the content each time."""
    mode, oid, flags = file_mode(entry.mode), bytes.fromhex(entry.id), min(len(path), _LONGEST_NAME)
    if seen is None or not _tells(seen, now):
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


def _tells(seen: Look, now: int) -> bool:
    """Whether a later change shows in seconds: the last one is over, or git itself distrusts the young file."""
    return seen.changed // _SECOND < now // _SECOND or seen.modified // _SECOND == seen.changed // _SECOND


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


def believe(file: Path, looked: int) -> None:
    """Let git believe looks as young as the index from now on: at `looked`, in a later second, contents were alike.

    A change after that moment shows, as it cannot be in the second of the look any more.
    """
    os.utime(file, ns=(looked, looked))


def is_older(file: Path, moment: int) -> bool:
    """Whether the index is of an earlier second."""
    return file.stat().st_mtime_ns // _SECOND < moment // _SECOND


def read(file: Path) -> dict[bytes, Record]:
    """Every entry by path. The file is Forge's own; anything else in its place raises `Damaged`."""
    data = file.read_bytes()
    if data[:8] != b"DIRC\0\0\0\2" or hashlib.sha1(data[:-20]).digest() != data[-20:]:
        raise Damaged(f"{file} is not an index that Forge wrote")
    (count,) = struct.unpack_from(">I", data, 8)
    records: dict[bytes, Record] = {}
    at = 12
    for _ in range(count):
        name = at + _HEAD.size
        end = data.index(b"\0", name)
        records[data[name:end]] = data[at:name]
        at = end + 8 - (end - at) % 8
    return records
