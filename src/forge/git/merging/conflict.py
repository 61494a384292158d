"""What a merge of trees gave: a tree, and the paths that a person has to settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.values import Entry, ObjectId

if TYPE_CHECKING:
    from forge.git.objects.tree_diff import ChangedEntry

Side = Entry
"""What one side of a conflict has: a mode and the id of the content."""

Resolution = bytes | str | Side | None
"""The content a conflicted file shall have, or one of its sides as it is; None deletes it."""


@dataclass(frozen=True, slots=True)
class Conflict:
    path: str
    kind: str
    """In git's words: content, add/add, modify/delete, rename/rename, …"""
    base: Side | None
    ours: Side | None
    theirs: Side | None
    marked: bytes | None
    """The content with conflict markers, where git could make one."""


@dataclass(frozen=True, slots=True)
class TreeMerge:
    tree: ObjectId
    conflicts: tuple[Conflict, ...] = ()
    messages: tuple[str, ...] = ()
    changed: tuple[ChangedEntry, ...] | None = None
    """What differs from our tree, where that is known without looking."""
