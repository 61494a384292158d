"""Versions of contracts: each commit of the project that changed one, found with one walk through the history."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from forge.contracts import history_index
from forge.contracts.errors import VersionMissing
from forge.contracts.kinds import FOLDER, ORDER, Kind
from forge.git import Commit, CommitId, ObjectId, Repository
from forge.git.objects import commits

RUN, READS, DRAFT, EDITOR = "Contract-Run", "Contract-Reads", "Contract-Draft", "Contract-Editor"
"""Trailers of commits: the run that wrote it, the contracts that run fetched, whether it is a draft; who edited it."""
CONFIRMED = "Contract-Confirmed"
"""The contract that a run wrote anew with the text that it had."""

Origin = Literal["person", "generated"]
Blobs = Mapping[Kind, ObjectId]
_MOST_PROJECTS = 64
_WORTH_KEEPING = 24
"""Changes that were read anew before they are written to the index."""
_NAMES = frozenset(kind.value for kind in ORDER)
_KIND_BY_FILE = {kind.file: kind for kind in ORDER}


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
class History:
    """All changes, newest first."""

    changes: tuple[Change, ...] = ()
    confirmed: tuple[Change, ...] = ()
    """Commits of runs that wrote the same text again, newest first."""
    versions: Mapping[Kind, tuple[Version, ...]] = field(default_factory=dict)
    """Newest first, for each contract that ever was."""

    @property
    def commit(self) -> CommitId | None:
        """The newest commit that changed a contract."""
        return self.changes[0].commit if self.changes else None

    @property
    def blobs(self) -> Blobs:
        return self.changes[0].blobs if self.changes else {}

    def newest(self, kind: Kind) -> Version | None:
        """None where the contract was never written; of a deleted one, its deletion."""
        found = self.versions.get(kind, ())
        return found[0] if found else None

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

    def is_stale(self, kind: Kind) -> bool:
        """Whether a contract that its writer fetched has another text now."""
        wrote = next((each for each in self.changes if each.run and self._changed(each, kind)), None)
        newest = self.newest(kind)
        if wrote is None or newest is None:
            return False
        again = next((each for each in self.confirmed if each.confirmed == kind.value), None)
        if again is not None and again.blobs.get(kind) == newest.blob:
            return any(not str(self.blobs.get(each, "")).startswith(id_) for each, id_ in again.reads.items())
        if newest.commit == wrote.commit:
            return any(not str(self.blobs.get(kind, "")).startswith(id_) for kind, id_ in wrote.reads.items())
        # A person who edited it since has seen what was there then.
        seen = next(each.blobs for each in self.changes if each.commit == newest.commit)
        return any(seen.get(each) != self.blobs.get(each) for each in wrote.reads)

    def _changed(self, change: Change, kind: Kind) -> bool:
        return any(each.commit == change.commit for each in self.versions.get(kind, ()))


_known: OrderedDict[Path, tuple[CommitId, History]] = OrderedDict()
_lock = Lock()


def history(repository: Repository, tip: CommitId | None) -> History:
    """Up to `tip`. What was found for an earlier tip is kept, and only the commits since then are read."""
    if tip is None:
        return History()
    place = repository.common_dir
    with _lock:
        known = _known.get(place)
    if known is None:
        known = _indexed(place)
    if known is not None and known[0] == tip:
        found = known[1]
    else:
        found = walked(repository, tip, known)
        if len(found.changes) - (len(known[1].changes) if known is not None else 0) >= _WORTH_KEEPING:
            history_index.write(place, tip, *_rows(found))
    with _lock:
        _known[place] = (tip, found)
        _known.move_to_end(place)
        while len(_known) > _MOST_PROJECTS:
            _known.popitem(last=False)
    return found


def walked(repository: Repository, tip: CommitId, known: tuple[CommitId, History] | None = None) -> History:
    """Read from the commits themselves, as far as `known` does not have them."""
    before = known[1].changes if known is not None and _follows(repository, tip, known[0]) else ()
    exclude = (known[0],) if known is not None and before else ()
    log = repository.log(tip, paths=(FOLDER,), first_parent=True, exclude=exclude)
    fresh = tuple(_change(repository, commit) for commit in log)
    changes = _really_changed((*fresh, *before))
    confirmed = tuple(each for each in fresh if each.confirmed)
    return History(
        changes, (*confirmed, *(known[1].confirmed if known is not None and before else ())), _versions(changes)
    )


def _indexed(place: Path) -> tuple[CommitId, History] | None:
    """As an earlier process found it. Rows of another form are as good as none."""
    found = history_index.read(place)
    if found is None:
        return None
    tip, changes, confirmed = found
    try:
        read = tuple(_from_rows(changes))
        return CommitId(tip), History(read, tuple(_from_rows(confirmed)), _versions(read))
    except (TypeError, ValueError, KeyError):
        return None


def _rows(found: History) -> tuple[list[object], list[object]]:
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


def _from_rows(rows: Sequence[Any]) -> Iterator[Change]:
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


def _follows(repository: Repository, tip: CommitId, before: CommitId) -> bool:
    """Whether `before` is a few first parents below `tip`; a history that was rewritten is read anew."""
    at = tip
    for _ in range(256):
        if at == before:
            return True
        parents = repository.objects.commit(at).parents
        if not parents or not repository.objects.has(parents[0]):
            return False
        at = parents[0]
    return False


def _change(repository: Repository, commit: Commit) -> Change:
    message = commit.message
    fetched = (commits.trailer(message, READS) or "").split(", ")
    reads = {name: id_ for name, _, id_ in (each.partition("@") for each in fetched) if id_}
    return Change(
        commit.id,
        float(commit.committer.time),
        commits.trailer(message, EDITOR) or commit.author.name,
        commit.subject,
        commits.trailer(message, RUN) or "",
        {kind: reads[kind.value] for kind in ORDER if kind.value in reads},
        commits.trailer(message, DRAFT) is not None,
        _blobs(repository, commit),
        confirmed if (confirmed := commits.trailer(message, CONFIRMED) or "") in _NAMES else "",
    )


def _blobs(repository: Repository, commit: Commit) -> Blobs:
    folder = repository.objects.entry(commit.tree, FOLDER)
    if folder is None or not folder.is_tree:
        return {}
    files = repository.objects.tree(folder.id)
    return {kind: entry.id for file, kind in _KIND_BY_FILE.items() if (entry := files.get(file)) and not entry.is_tree}


def _really_changed(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Without those that changed another file of the folder, such as answers."""
    kept: list[Change] = []
    before: Blobs = {}
    for each in reversed(changes):
        if each.blobs != before:
            kept.append(each)
            before = each.blobs
    return tuple(reversed(kept))


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
