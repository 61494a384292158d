"""Whether branches would merge cleanly into a target: many at once, and cheap to ask again after the target moved."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from forge.git.merging.git_merge import GitMerger, Stages, above, asking_git
from forge.git.merging.incoming_changes import Incoming, folders_fit, incoming, may_have_moved, taken
from forge.git.merging.merge_base import History, Meeting, meeting
from forge.git.objects.git_diff_tree import all_changed_entries
from forge.git.objects.tree_diff import ChangedEntry, changed_entries
from forge.git.workspace.forge_records import is_record

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import CommitId, ObjectId

_TARGETS_KEPT = 8
_TIPS_KEPT = 2_000
# So many trees to compare, or to merge beside others, are worth a git process.
_WORTH_A_PROCESS = 12
_PROCESSES = 2
_ATTRIBUTES = ".gitattributes"


class MergeState(StrEnum):
    UP_TO_DATE = "up to date"
    FAST_FORWARD = "fast-forward"
    CLEAN = "clean"
    CONFLICTS = "conflicts"
    UNRELATED = "unrelated"
    DAMAGED = "damaged"
    """A part of its history cannot be read."""


@dataclass(frozen=True, slots=True)
class MergeStatus:
    state: MergeState
    paths: tuple[str, ...] = ()
    """The files in conflict."""


@dataclass(frozen=True, slots=True)
class _Record:
    """What is known of one branch tip and one target."""

    meeting: Meeting
    status: MergeStatus | None
    incoming: Incoming | None = None
    touched: frozenset[str] = frozenset()
    by_git: bool = False


class MergeStatusCache:
    """Remembers, per target, what was found out about branch tips. Only ids are keys, so nothing goes stale."""

    def __init__(self) -> None:
        self._targets: OrderedDict[CommitId, dict[CommitId, _Record]] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, target: CommitId) -> dict[CommitId, _Record] | None:
        with self._lock:
            found = self._targets.get(target)
            return None if found is None else dict(found)

    def latest(self) -> list[tuple[CommitId, dict[CommitId, _Record]]]:
        with self._lock:
            return [(target, dict(self._targets[target])) for target in reversed(self._targets)]

    def put(self, target: CommitId, records: dict[CommitId, _Record], *, follows: CommitId | None) -> None:
        with self._lock:
            if follows is not None:
                self._targets.pop(follows, None)
            self._targets[target] = dict(list(records.items())[-_TIPS_KEPT:])
            self._targets.move_to_end(target)
            while len(self._targets) > _TARGETS_KEPT:
                self._targets.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Advance:
    """How the target moved on from where it was."""

    start: CommitId
    commits: frozenset[CommitId]
    changes: tuple[ChangedEntry, ...]


def merge_status(
    objects: Objects,
    branches: Mapping[str, CommitId],
    target: CommitId,
    *,
    cache: MergeStatusCache | None = None,
) -> dict[str, MergeStatus]:
    """For each branch whether merging it into `target` is possible, and cleanly."""
    cache = cache or MergeStatusCache()
    judge = _Judge(objects, target)
    known, earlier, advance = _remembered(judge.history, cache, target)
    records: dict[CommitId, _Record] = {}
    for tip in dict.fromkeys(branches.values()):
        record = known.get(tip)
        if record is None and advance is not None and tip in earlier:
            record = judge.carried(earlier[tip], advance)
        if record is not None:
            records[tip] = record
    records |= judge.fresh([tip for tip in dict.fromkeys(branches.values()) if tip not in records])
    records |= judge.asked({tip: record for tip, record in records.items() if record.status is None})
    cache.put(target, known | records, follows=advance.start if advance else None)
    found = {tip: record.status for tip, record in records.items() if record.status is not None}
    return {name: found[tip] for name, tip in branches.items()}


def _remembered(
    history: History, cache: MergeStatusCache, target: CommitId
) -> tuple[dict[CommitId, _Record], dict[CommitId, _Record], _Advance | None]:
    """Records for this very target; else those for one it has moved on from, and how."""
    known = cache.at(target)
    if known is not None:
        return known, {}, None
    objects = history.objects
    for start, records in cache.latest():
        met = meeting(history, target, start)
        if met.bases == (start,):
            changes = changed_entries(objects, objects.commit(start).tree, objects.commit(target).tree)
            # Forge's own records decide no merge, and every turn adds to them.
            work = tuple(change for change in changes if not is_record(change[0]))
            return {}, records, _Advance(start, met.only_one, work)
    return {}, {}, None


class _Judge:
    def __init__(self, objects: Objects, target: CommitId) -> None:
        self.history = History(objects)
        self._objects = objects
        self._target = target
        self._tree = objects.commit(target).tree

    def fresh(self, tips: Sequence[CommitId]) -> dict[CommitId, _Record]:
        met = {tip: meeting(self.history, tip, self._target) for tip in tips}
        apart = [tip for tip in tips if self._simple(tip, met[tip]) is None]
        pairs = [(self._tree_of(met[tip].bases[0]), self._tree_of(tip)) for tip in apart]
        records = {tip: _Record(met[tip], self._simple(tip, met[tip])) for tip in tips}
        for tip, pair, changes in zip(apart, pairs, self._differences(pairs), strict=True):
            touched = frozenset(path for path, _, _ in changes)
            brings = incoming(self._objects, *pair, changes)
            records[tip] = self._judged(_Record(met[tip], None, brings, touched))
        return records

    def _simple(self, tip: CommitId, met: Meeting) -> MergeStatus | None:
        """The status where no tree has to be looked at."""
        if not met.bases:
            return MergeStatus(MergeState.UNRELATED)
        if met.bases == (tip,):
            return MergeStatus(MergeState.UP_TO_DATE)
        return MergeStatus(MergeState.FAST_FORWARD) if met.bases == (self._target,) else None

    def _tree_of(self, commit: CommitId) -> ObjectId:
        return self._objects.commit(commit).tree

    def _differences(self, pairs: Sequence[tuple[ObjectId, ObjectId]]) -> Iterable[tuple[ChangedEntry, ...]]:
        if len(pairs) > _WORTH_A_PROCESS:
            return all_changed_entries(self._objects, pairs)
        return [tuple(changed_entries(self._objects, *pair)) for pair in pairs]

    def carried(self, record: _Record, advance: _Advance) -> _Record | None:
        """The record for the target as it is now; None if the histories meet elsewhere since then."""
        status, brings = record.status, record.incoming
        if not record.meeting.only_one.isdisjoint(advance.commits):
            return None
        if status is None or status.state is MergeState.FAST_FORWARD:
            return None
        if brings is None:
            return record
        if record.by_git:
            same = len(record.meeting.bases) == 1 and self._leaves_alone(advance, record, brings)
        else:
            same = not _meets(advance, record) and folders_fit(self._objects, brings, self._tree)
        return record if same else self._judged(record)

    def asked(self, records: Mapping[CommitId, _Record]) -> dict[CommitId, _Record]:
        """Let git decide what contents and renames decide."""
        if not records:
            return {}
        tips = list(records)
        with asking_git(self._objects) as merger:
            merger.show_attributes(self._tree, self._taking_part(records.values()))
            verdicts = list(self._in_parallel(merger, tips))
        found = {}
        for tip, (clean, stages) in zip(tips, verdicts, strict=True):
            paths = tuple(dict.fromkeys(self._plain(path, tip) for path in stages if not is_record(path)))
            state = MergeState.CLEAN if clean or (stages and not paths) else MergeState.CONFLICTS
            found[tip] = replace(records[tip], status=MergeStatus(state, paths), by_git=True)
        return found

    def _plain(self, path: str, tip: CommitId) -> str:
        """The path without the name that git appends where a file must step aside for a folder."""
        return path.split(f"~{self._target}", maxsplit=1)[0].split(f"~{tip}", maxsplit=1)[0]

    def _judged(self, record: _Record) -> _Record:
        """The record with its status, or without one where git has to be asked."""
        assert record.incoming is not None
        single = len(record.meeting.bases) == 1
        easy = single and taken(self._objects, record.incoming, self._tree) is not None
        return replace(record, status=MergeStatus(MergeState.CLEAN) if easy else None, by_git=not easy)

    def _leaves_alone(self, advance: _Advance, record: _Record, brings: Incoming) -> bool:
        """Whether the target only edited files that neither side had touched: no verdict can hang on them."""
        return all(
            old is not None
            and new is not None
            and path not in record.touched
            and not path.endswith(_ATTRIBUTES)
            and self._objects.entry(brings.base, path) == old
            for path, old, new in advance.changes
        )

    def _taking_part(self, records: Collection[_Record]) -> set[str]:
        """Paths whose contents may have to be merged for one of `records`."""
        paths = {path for record in records for path in record.touched}
        looked_at: set[ObjectId] = set()
        for record in records:
            brings = record.incoming
            if brings is None or brings.base in looked_at:
                continue
            if len(record.meeting.bases) > 1 or may_have_moved(self._objects, brings, self._tree):
                looked_at.add(brings.base)
                paths.update(path for path, _, _ in changed_entries(self._objects, brings.base, self._tree))
        return paths

    def _in_parallel(self, merger: GitMerger, tips: Sequence[CommitId]) -> Iterator[tuple[bool, Stages]]:
        processes = _PROCESSES if len(tips) > _WORTH_A_PROCESS else 1
        share = -(-len(tips) // processes)
        parts = [tips[start : start + share] for start in range(0, len(tips), share)]
        with ThreadPoolExecutor(processes) as pool:
            for verdicts in pool.map(partial(merger.conflicts, self._target), parts):
                yield from verdicts


def _meets(advance: _Advance, record: _Record) -> bool:
    """Whether the target changed a path, or something below one, that the branch changes too."""
    return any(
        path in record.touched or any(folder in record.touched for folder in above(path))
        for path, _, _ in advance.changes
    )
