"""What became of a person's checkout when its branch moved, and what they have there that is based on older text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.git.values import CommitId, Entry


class OwnKind(StrEnum):
    EDITED = "edited"
    DELETED = "deleted"
    UNTRACKED = "untracked"
    HIDDEN = "hidden"
    STAGED = "staged"
    CONFLICTED = "in conflict"
    NO_ROOM = "no room"


_SENTENCES = {
    OwnKind.EDITED: "your uncommitted edit in {place} is kept; it is based on the older text",
    OwnKind.DELETED: "you deleted it in {place} without committing that; the branch has a newer text",
    OwnKind.UNTRACKED: "your own file in {place} is kept; the branch now has another file there",
    OwnKind.HIDDEN: "your file in {place} is kept (assume-unchanged or skip-worktree); it may be the older text",
    OwnKind.STAGED: "your staged change in {place} is kept; it is based on the older text and replaces the newer one "
    "when you commit it",
    OwnKind.CONFLICTED: "it is still in conflict in {place}; the branch has a newer text to resolve it with",
    OwnKind.NO_ROOM: "the file in {place} is still the older text, because the disk is full",
}
_REMOVED = {
    OwnKind.EDITED: "your uncommitted edit in {place} is kept; the branch no longer has the file",
    OwnKind.HIDDEN: "your file in {place} is kept; the branch no longer has it",
    OwnKind.STAGED: "your staged change in {place} is kept; the branch no longer has the file",
    OwnKind.CONFLICTED: "it is still in conflict in {place}; the branch no longer has the file",
    OwnKind.NO_ROOM: "the file is still in {place}, though the branch no longer has it, because the disk is full",
}


@dataclass(frozen=True, slots=True)
class OwnChange:
    """A file of the person that was kept, and a sentence that says how it stands to what the branch has now."""

    path: str
    kind: OwnKind
    sentence: str


def own_change(path: str, kind: OwnKind, place: Path, *, removed: bool = False) -> OwnChange:
    """`removed`: the branch has no such file any more."""
    text = (_REMOVED if removed else _SENTENCES).get(kind, _SENTENCES[kind])
    return OwnChange(path, kind, f"{path}: {text.format(place=place)}")


@dataclass(frozen=True, slots=True)
class PartialUpdate:
    own: tuple[OwnChange, ...]
    followed: Mapping[str, tuple[Entry | None, Entry | None]]
    """Files that were changed on the disk: what they were, what they are."""
    index_before: bytes
    index_after: bytes


class CheckoutState(StrEnum):
    UPDATED = "updated"
    PARTLY = "partly updated"
    LEFT_ALONE = "left alone"


@dataclass(frozen=True, slots=True)
class CheckoutUpdate:
    """What became of a checkout: files and index show `new`, or only what the person has no changes in, or nothing.

    `reason` says why not all of it followed.
    """

    worktree: Path
    state: CheckoutState
    old: CommitId | None
    new: CommitId
    reason: str = ""
    paths: tuple[str, ...] = ()
    """The person's own files that stand in the way, as far as they are known."""
    removed_alike: tuple[str, ...] = ()
    """Files that the update removed and the person had removed before."""
    own: tuple[OwnChange, ...] = ()
    """What the person has there that is based on the older text, with a sentence about each."""
    placed: bool = field(default=False, repr=False, compare=False)
    """Only the index followed; the caller had put the files there."""
    index_before: bytes = field(default=b"", repr=False, compare=False)
    partial: PartialUpdate | None = field(default=None, repr=False, compare=False)
