"""What differs between many pairs of trees, told by one git process. For a single pair `tree_diff` is faster."""

from __future__ import annotations

from collections.abc import Sequence

from forge.git import trees
from forge.git.objects import Objects
from forge.git.tree_diff import ChangedEntry
from forge.git.values import Entry, ObjectId


def all_changed_entries(
    objects: Objects, pairs: Sequence[tuple[ObjectId, ObjectId]]
) -> list[tuple[ChangedEntry, ...]]:
    """For each pair of old and new tree what `changed_entries` gives."""
    wanted = dict.fromkeys(pairs)
    lines = "".join(f"{old} {new}\n" for old, new in wanted)
    command = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none", "--stdin")
    output = objects.git.run(*command, stdin=lines.encode()).stdout
    found: dict[tuple[ObjectId, ObjectId], list[ChangedEntry]] = {pair: [] for pair in wanted}
    for pair, rows in zip(wanted, _by_pair(output, list(wanted)), strict=True):
        found[pair] = rows
    return [tuple(found[pair]) for pair in pairs]
