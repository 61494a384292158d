"""The turn files that a commit has: in its tree, or behind it where a merge took them out of the tree."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from forge.errors import ForgeError
from forge.git import CommitId, ObjectId
from forge.git.objects.cache import Cache
from forge.git.objects.object_store import Objects
from forge.git.objects.raw_object import object_id
from forge.git.values import ObjectKind
from forge.sessions.head import refs_from_json
from forge.sessions.layout import EARLIER, FOLDER, HEAD_PATH, MARKS, NO_TURNS, POINTER, RECORDS, TurnRef, ref_at

_POINTER = object_id(ObjectKind.BLOB, POINTER)
_MOST = 1 << 20
_EACH = 300
_WALK = 10_000
"""How far back a turn is looked for that a merge took out of the tree."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides a turn's place in a conversation."""

    parent: TurnRef | None
    started: float
    earlier: tuple[TurnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnsState:
    """Of one commit: the folder of its turns, and the content of `.forge/session.json`."""

    folder: ObjectId | None
    head: ObjectId | None

    @property
    def first_format(self) -> bool:
        return self.head is not None and self.head != _POINTER


_FACTS: WeakKeyDictionary[Objects, Cache[ObjectId, Facts]] = WeakKeyDictionary()


def state_of(objects: Objects, commit: CommitId | None) -> TurnsState:
    if commit is None:
        return TurnsState(None, None)
    above = objects.entry(objects.commit(commit).tree, ".forge")
    if above is None or not above.is_tree:
        return TurnsState(None, None)
    folder = objects.entry(above.id, FOLDER.rpartition("/")[2])
    head = objects.entry(above.id, HEAD_PATH.rpartition("/")[2])
    return TurnsState(
        folder.id if folder is not None and folder.is_tree else None,
        head.id if head is not None and not head.is_tree and not head.is_submodule else None,
    )


def has_turns(objects: Objects, state: TurnsState) -> bool:
    """Whether the tree has any conversation, rather than summaries of conversations that were merged, or marks."""
    if state.first_format:
        return True
    return state.folder is not None and any(f"{FOLDER}/{name}" not in NO_TURNS for name in objects.tree(state.folder))


def has_marks(objects: Objects, state: TurnsState) -> bool:
    """Whether saves took marks in the context along, whatever conversation they belong to."""
    return state.folder is not None and MARKS.rpartition("/")[2] in objects.tree(state.folder)


def facts_of(objects: Objects, blob: ObjectId) -> Facts:
    """A damaged file has no place of its own; whoever reads it is told."""
    known = _FACTS.setdefault(objects, Cache(_MOST, lambda _: _EACH))
    found = known.get(blob)
    if found is None:
        found = Facts(None, 0.0)
        with suppress(ValueError, KeyError, TypeError, AttributeError, ForgeError):
            data = json.loads(objects.blob(blob))
            parent = TurnRef(data["parent"], data.get("parent_lane")) if data["parent"] else None
            if parent is None or parent.number < TurnRef(data["id"]).number:
                found = Facts(parent, float(data["started"]), refs_from_json(data.get("earlier", ())))
        known.put(blob, found)
    return found


class TurnFiles:
    """What can be read of conversations at one commit."""

    def __init__(self, objects: Objects, commit: CommitId | None) -> None:
        self.objects = objects
        self.commit = commit
        self._state: TurnsState | None = None
        self._behind: dict[TurnRef, ObjectId | None] = {}
        self._links: dict[TurnRef, ObjectId | None] = {}

    @property
    def state(self) -> TurnsState:
        if self._state is None:
            self._state = state_of(self.objects, self.commit)
        return self._state

    def in_tree(self, ref: TurnRef) -> ObjectId | None:
        return _blob(self.objects, self.state.folder, ref)

    def blob(self, ref: TurnRef) -> ObjectId | None:
        found = self.in_tree(ref)
        if found is None and ref not in self._behind:
            behind, by_merge = self._behind_the_tip(ref)
            # A merge takes no turn away, whatever its tree says: another branch may have left out what this one keeps.
            self._behind[ref] = self._recorded(ref) or (behind if by_merge else None)
        return found or self._behind[ref]

    def facts(self, ref: TurnRef) -> Facts:
        found = self.blob(ref)
        return facts_of(self.objects, found) if found is not None else Facts(None, 0.0)

    def previous(self, ref: TurnRef) -> TurnRef | None:
        """The turn before `ref`. Where that is gone, the one before that, and so on."""
        facts = self.facts(ref)
        gone = facts.parent
        while gone is not None and self.blob(gone) is None:
            removed, _ = self._behind_the_tip(gone)
            if removed is None:
                near = next((each for each in facts.earlier if each.number < ref.number and self.blob(each)), None)
                if near is not None or 0 < len(facts.earlier) < EARLIER:
                    return near
                removed = self._anywhere(gone)
            if removed is None:
                return None
            gone = facts_of(self.objects, removed).parent
        return gone

    def conversation_of(self, last: TurnRef) -> frozenset[TurnRef]:
        """Every turn before `last`, and itself. A turn names nine before it, so one of nine is read."""
        found: set[TurnRef] = set()
        at: TurnRef | None = last
        while at is not None:
            facts = self.facts(at)
            found |= {at, *facts.earlier, *([facts.parent] if facts.parent else [])}
            far = facts.earlier[-1] if facts.earlier else None
            at = far if far is not None and far.number < at.number and self.blob(far) else self.previous(at)
        return frozenset(found)

    def has_lane(self, lane: str) -> bool:
        folder = self.state.folder
        return folder is not None and self.objects.entry(folder, lane) is not None

    def of_lane(self, lane: str | None, after: int) -> Iterator[TurnRef]:
        """Turns of a lane whose number is greater than `after`, the greatest first."""
        folder = self._lane(lane)
        if folder is None:
            return
        for shard, entry in sorted(self.objects.tree(folder).items(), reverse=True):
            if not shard.isdigit() or not entry.is_tree:
                continue
            below = self.objects.tree(entry.id)
            names = (f"{lane}/{shard}/{name}/turn.json" if lane else f"{shard}/{name}" for name in below)
            refs = sorted((ref for ref in map(ref_at, names) if ref), key=lambda ref: ref.number, reverse=True)
            for ref in refs:
                if ref.number <= after:
                    return
                yield ref

    def has_later(self, ref: TurnRef) -> bool:
        """Whether any turn in the tree has a greater number, so that it may go on from `ref`."""
        folder = self.state.folder
        lanes: list[str | None] = [None, *(self.objects.tree(folder) if folder is not None else ())]
        return any(next(self.of_lane(lane, ref.number), None) is not None for lane in lanes)

    def last_record(self, lane: str) -> TurnRef | None:
        """The last turn of a branch's conversation that is here only as a summary."""
        found = [(ref.number, started, ref) for ref, started, _ in self._records(lane)]
        return max(found, key=lambda each: each[:2])[2] if found else None

    def latest(self, refs: Iterable[TurnRef]) -> TurnRef:
        return max(refs, key=lambda ref: (self.facts(ref).started, ref.number, ref.id))

    def _lane(self, lane: str | None) -> ObjectId | None:
        folder = self.state.folder
        if folder is None or lane is None:
            return folder
        found = self.objects.entry(folder, lane)
        return found.id if found is not None and found.is_tree else None

    def _records(self, lane: str) -> Iterator[tuple[TurnRef, float, CommitId]]:
        folder = self.state.folder
        name = f"{RECORDS.rpartition('/')[2]}/{lane}"
        found = self.objects.entry(folder, name) if folder else None
        if found is None or not found.is_tree:
            return
        for name in self.objects.tree(found.id):
            with suppress(ValueError, KeyError, TypeError, AttributeError, ForgeError):
                entry = self.objects.entry(found.id, f"{name}/merged.json")
                if entry is None:
                    continue
                data = json.loads(self.objects.blob(entry.id))
                yield TurnRef(data["last"], data["last_lane"]), float(data["started"]), CommitId(data["commit"])

    def _merged_commits(self, lane: str | None) -> Iterator[CommitId]:
        """Those of the lane first: a conversation that began on another branch is with the branch it ended on."""
        folder = self.state.folder
        above = self.objects.entry(folder, RECORDS.rpartition("/")[2]) if folder else None
        lanes = list(self.objects.tree(above.id)) if above is not None and above.is_tree else []
        for each in sorted(lanes, key=lambda name: name != lane):
            yield from (commit for _, _, commit in self._records(each))

    def _recorded(self, ref: TurnRef) -> ObjectId | None:
        for commit in self._merged_commits(ref.lane):
            with suppress(ForgeError, ValueError):
                found = _blob(self.objects, state_of(self.objects, commit).folder, ref)
                if found is not None:
                    return found
        return None

    def _anywhere(self, ref: TurnRef) -> ObjectId | None:
        """A turn in any commit behind this one, only to learn which was before it."""
        if ref in self._links:
            return self._links[ref]
        found: ObjectId | None = None
        waiting = deque([self.commit] if self.commit else [])
        seen = set(waiting)
        while waiting and found is None and len(seen) < _WALK:
            at = waiting.popleft()
            found = _blob(self.objects, state_of(self.objects, at).folder, ref)
            new = [p for p in self.objects.commit(at).parents if p not in seen and self.objects.has(p)]
            seen.update(new)
            waiting.extend(new)
        self._links[ref] = found
        return found

    def _behind_the_tip(self, ref: TurnRef) -> tuple[ObjectId | None, bool]:
        """A turn that a commit of the line took out of the tree, and whether that commit is a merge."""
        at = self.commit
        for _ in range(_WALK):
            parents = self.objects.commit(at).parents if at else ()
            if not parents or not self.objects.has(parents[0]):
                break
            found = _blob(self.objects, state_of(self.objects, parents[0]).folder, ref)
            if found is not None:
                return found, len(parents) > 1
            at = parents[0]
        return None, False


def _blob(objects: Objects, folder: ObjectId | None, ref: TurnRef) -> ObjectId | None:
    found = objects.entry(folder, ref.path.removeprefix(f"{FOLDER}/")) if folder else None
    return found.id if found is not None and not found.is_tree and not found.is_submodule else None
