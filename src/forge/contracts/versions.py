"""Versions of contracts as values: changes, what is newest, and which contracts are stale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from forge.contracts.errors import VersionMissing
from forge.contracts.kinds import ORDER, Kind
from forge.git import CommitId, ObjectId

Origin = Literal["person", "generated"]
Blobs = Mapping[Kind, ObjectId]


@dataclass(frozen=True, slots=True)
class Version:
    """`number` counts the committed changes of one contract; `blob` is None where that change deleted it."""

    kind: Kind = field(repr=False)
    number: int
    commit: CommitId
    time: float
    author: str
    subject: str
    origin: Origin
    draft: bool
    blob: ObjectId | None


@dataclass(frozen=True, slots=True)
class Change:
    """A commit that changed contracts, with all contracts as it left them."""

    commit: CommitId
    time: float
    author: str
    subject: str
    run: str
    reads: Mapping[Kind, str]
    """What its run fetched, with the beginning of the id of each text."""
    draft: bool
    blobs: Blobs
    confirmed: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """What is asked of a history most: its newest versions, and which contracts are stale."""

    commit: CommitId | None
    blobs: Blobs
    newest: Mapping[Kind, Version]
    stale: frozenset[Kind]


class History:
    """All changes, newest first. One that was read from the index has its head at once and the rest when asked."""

    def __init__(
        self,
        changes: tuple[Change, ...] = (),
        confirmed: tuple[Change, ...] = (),
        *,
        head: Head | None = None,
        rest: Callable[[], History] | None = None,
    ) -> None:
        self._head, self._rest = head, rest
        if rest is None:
            self.__dict__["changes"], self.__dict__["confirmed"] = changes, confirmed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and (self.changes, self.confirmed) == (other.changes, other.confirmed)

    __hash__ = None  # type: ignore[assignment] # compared by what it says

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        return self._read.changes

    @cached_property
    def confirmed(self) -> tuple[Change, ...]:
        """Commits of runs that wrote the same text again, newest first."""
        return self._read.confirmed

    @cached_property
    def versions(self) -> Mapping[Kind, tuple[Version, ...]]:
        """Newest first, for each contract that ever was."""
        return _versions(self.changes)

    @cached_property
    def _read(self) -> History:
        assert self._rest is not None
        return self._rest()

    @property
    def commit(self) -> CommitId | None:
        """The newest commit that changed a contract."""
        return self.head.commit

    @property
    def blobs(self) -> Blobs:
        return self.head.blobs

    @property
    def head(self) -> Head:
        if self._head is None:
            newest = {kind: found[0] for kind, found in self.versions.items()}
            first = self.changes[0] if self.changes else None
            blobs = first.blobs if first is not None else {}
            stale = frozenset(kind for kind in newest if self._is_stale(kind, newest[kind], blobs))
            self._head = Head(first.commit if first is not None else None, blobs, newest, stale)
        return self._head

    def newest(self, kind: Kind) -> Version | None:
        """None where the contract was never written; of a deleted one, its deletion."""
        return self.head.newest.get(kind)

    def is_stale(self, kind: Kind) -> bool:
        """Whether a contract that its writer fetched has another text now."""
        return kind in self.head.stale

    def until(self, commit: CommitId) -> History | None:
        """As it was at that change; None where it is none of these."""
        if commit == self.commit:
            return self
        place = next((number for number, each in enumerate(self.changes) if each.commit == commit), None)
        if place is None:
            return None
        then = self.changes[place].time
        return History(self.changes[place:], tuple(each for each in self.confirmed if each.time <= then))

    def version(self, kind: Kind, number: int) -> Version:
        found = self.versions.get(kind, ())
        if not 1 <= number <= len(found):
            hint = f"It has versions 1 to {len(found)}." if found else f"Write {kind.path} first."
            raise VersionMissing(f"{kind.value} has no version {number}.", hint=hint)
        return found[len(found) - number]

    def written_by(self, run: str) -> dict[Kind, Version]:
        """The versions that a run wrote."""
        commits_of = {each.commit for each in self.changes if each.run == run}
        wrote = {each.kind: each for found in self.versions.values() for each in found if each.commit in commits_of}
        again = (Kind(each.confirmed) for each in self.confirmed if each.run == run)
        return wrote | {kind: newest for kind in again if (newest := self.newest(kind)) is not None}

    def _is_stale(self, kind: Kind, newest: Version, now: Blobs) -> bool:
        wrote = next((each for each in self.changes if each.run and self._changed(each, kind)), None)
        if wrote is None:
            return False
        again = next((each for each in self.confirmed if each.confirmed == kind.value), None)
        if again is not None and again.blobs.get(kind) == newest.blob:
            return any(not str(now.get(each, "")).startswith(id_) for each, id_ in again.reads.items())
        if newest.commit == wrote.commit:
            return any(not str(now.get(kind, "")).startswith(id_) for kind, id_ in wrote.reads.items())
        # A person who edited it since has seen what was there then.
        seen = next(each.blobs for each in self.changes if each.commit == newest.commit)
        return any(seen.get(each) != now.get(each) for each in wrote.reads)

    def _changed(self, change: Change, kind: Kind) -> bool:
        return any(each.commit == change.commit for each in self.versions.get(kind, ()))


def _versions(changes: tuple[Change, ...]) -> Mapping[Kind, tuple[Version, ...]]:
    found: dict[Kind, list[Version]] = {}
    before: Blobs = {}
    for each in reversed(changes):
        for kind in ORDER:
            blob = each.blobs.get(kind)
            if blob != before.get(kind):
                of_kind = found.setdefault(kind, [])
                origin: Origin = "generated" if each.run else "person"
                of_kind.append(
                    Version(
                        kind,
                        len(of_kind) + 1,
                        each.commit,
                        each.time,
                        each.author,
                        each.subject,
                        origin,
                        each.draft,
                        blob,
                    )
                )
        before = each.blobs
    return {kind: tuple(reversed(of_kind)) for kind, of_kind in found.items()}
