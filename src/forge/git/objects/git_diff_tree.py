"""What differs between many pairs of trees, told by one git process. For a single pair `tree_diff` is faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forge.git.objects import trees
from forge.git.values import Entry, ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.objects.tree_diff import ChangedEntry

_NOTHING = 0


def all_changed_entries(objects: Objects, pairs: Sequence[tuple[ObjectId, ObjectId]]) -> list[tuple[ChangedEntry, ...]]:
    """For each pair of old and new tree what `changed_entries` gives."""
    found: dict[bytes, list[ChangedEntry]] = {f"{old} {new}".encode(): [] for old, new in pairs}
    lines = b"".join(pair + b"\n" for pair in found)
    command = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none", "--stdin")
    fields = iter(objects.git.run(*command, stdin=lines).stdout.split(b"\0"))
    rows: list[ChangedEntry] = []
    for field in fields:
        # Before the first difference of a pair, and for a pair without any, git repeats the line it was given.
        *begun, facts = field.split(b"\n")
        for pair in begun:
            rows = found[pair]
        if facts:
            rows.append(_change(facts, next(fields)))
    return [tuple(found[f"{old} {new}".encode()]) for old, new in pairs]


def _change(facts: bytes, path: bytes) -> ChangedEntry:
    """From `:<old mode> <new mode> <old id> <new id> <letter>`."""
    old_mode, new_mode, old_id, new_id, _ = facts[1:].decode().split(" ")
    return trees.decode(path), _entry(old_mode, old_id), _entry(new_mode, new_id)


def _entry(mode: str, oid: str) -> Entry | None:
    number = int(mode, 8)
    return None if number == _NOTHING else Entry(number, ObjectId(oid))
