"""A history as rows of plain values, for the index, and back; rows of another form raise one of `UNREADABLE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from forge.contracts.kinds import Kind
from forge.contracts.versions import Blobs, Change, Head, History, Version
from forge.git import CommitId, ObjectId

UNREADABLE = (TypeError, ValueError, KeyError)
_VERSION = ("number", "commit", "time", "author", "subject", "origin", "draft", "blob")


def head_row(head: Head) -> list[Any]:
    newest = [[kind.value, *(getattr(each, name) for name in _VERSION)] for kind, each in head.newest.items()]
    return [head.commit, {kind.value: blob for kind, blob in head.blobs.items()}, newest, [*head.stale]]


def head_from(row: list[Any]) -> Head:
    commit, blobs, newest, stale = row
    versions = {Kind(kind): Version(Kind(kind), **dict(zip(_VERSION, each, strict=True))) for kind, *each in newest}
    held = {Kind(kind): ObjectId(blob) for kind, blob in blobs.items()}
    return Head(CommitId(commit) if commit else None, held, versions, frozenset(map(Kind, stale)))


def rows(found: History) -> tuple[list[object], list[object]]:
    return [list(_row(*each)) for each in pairwise((*found.changes, None))], [
        list(_row(each, None)) for each in found.confirmed
    ]


def _row(change: Change | None, before: Change | None) -> Iterator[object]:
    assert change is not None
    earlier: Blobs = before.blobs if before is not None else {}
    yield from (change.commit, change.time, change.author, change.subject, change.run)
    yield {kind.value: id_ for kind, id_ in change.reads.items()}
    yield from (change.draft, change.confirmed)
    kinds = {*change.blobs, *earlier}
    yield {kind.value: change.blobs.get(kind) for kind in kinds if change.blobs.get(kind) != earlier.get(kind)}


def from_rows(rows: Sequence[Any]) -> Iterator[Change]:
    """Newest first, as they were written; confirmations have all their blobs, changes what differs."""
    found: list[Change] = []
    blobs: dict[Kind, ObjectId] = {}
    for commit, time, author, subject, run, reads, draft, confirmed, changed in reversed(rows):
        blobs = {} if confirmed else dict(blobs)
        for name, blob in changed.items():
            if blob is None:
                blobs.pop(Kind(name), None)
            else:
                blobs[Kind(name)] = ObjectId(blob)
        read = {Kind(name): str(id_) for name, id_ in reads.items()}
        found.append(Change(CommitId(commit), float(time), author, subject, run, read, bool(draft), blobs, confirmed))
    yield from reversed(found)
