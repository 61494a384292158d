"""Which turn is the last one of a branch: it follows from the tree and the first-parent line, whatever git did to them.

The newest commit on that line that brings turns decides. A merge keeps the conversation that the branch had, unless
what it brings goes on from there. docs/sessions.md has the table. A message's trailer is never believed against the
tree: it only tells the commit of a turn from a squash that brings one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from weakref import WeakKeyDictionary

from forge.git import CommitId
from forge.git.objects.cache import Cache
from forge.git.objects.object_store import Objects
from forge.git.objects.tree_diff import changed_entries
from forge.sessions.head import first_format
from forge.sessions.layout import TurnRef, lane_of, ref_at
from forge.sessions.trailers import turn_of
from forge.sessions.turn_files import State, TurnFiles, has_turns, state_of

_MOST = 1 << 20
_EACH = 200
_UNSAID = 100
"""So many commits without any turn in their tree are looked through for a merge that took the turns away."""


@dataclass(frozen=True, slots=True)
class _Last:
    """The last turn of a line, if any. Settled: its commit is the one that Forge made, in its place on the line."""

    ref: TurnRef | None = None
    settled: bool = False


_KNOWN: WeakKeyDictionary[Objects, Cache[tuple[CommitId, str | None], _Last]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class _Step:
    """One commit of the line, against its first parent."""

    commit: CommitId
    parent: CommitId | None
    others: tuple[CommitId, ...]
    state: State
    before: State
    added: tuple[TurnRef, ...]
    removed: frozenset[TurnRef]

    @property
    def changed(self) -> bool:
        return self.state != self.before


def last_turn(objects: Objects, commit: CommitId | None, branch: str | None) -> TurnRef | None:
    """The last turn of the conversation at `commit`, as `branch` has it if that is named."""
    lane = lane_of(branch) if branch else None
    found = _along(objects, commit, lane).ref
    if lane is not None and commit is not None and (found is None or found.lane != lane):
        files = TurnFiles(objects, commit)
        if not files.has_lane(lane):
            return files.last_record(lane) or found
    return found


def _along(objects: Objects, commit: CommitId | None, lane: str | None) -> _Last:
    known = _KNOWN.setdefault(objects, Cache(_MOST, lambda _: _EACH))
    waiting: list[_Step] = []
    last = _Last()
    unsaid = 0
    while commit is not None:
        cached = known.get((commit, lane))
        if cached is not None:
            last = cached
            break
        step = _step(objects, commit)
        unsaid += not has_turns(objects, step.state)
        if unsaid > _UNSAID:
            break
        if step.changed:
            decided = _decided(objects, step, lane)
            if decided is not None:
                last = decided
                known.put((commit, lane), decided)
                break
            waiting.append(step)
        commit = step.parent
    for step in reversed(waiting):
        last = _after(objects, step, lane, last)
        known.put((step.commit, lane), last)
    return last


def _step(objects: Objects, commit: CommitId) -> _Step:
    first, *others = (p for p in (*objects.commit(commit).parents, None) if p is None or objects.has(p))
    state, before = state_of(objects, commit), state_of(objects, first)
    added: list[TurnRef] = []
    removed: list[TurnRef] = []
    if state.folder != before.folder:
        for path, old, new in changed_entries(objects, before.folder, state.folder):
            ref = ref_at(path)
            if ref is not None and (old is None or new is None):
                (added if old is None else removed).append(ref)
    return _Step(commit, first, tuple(p for p in others if p), state, before, tuple(added), frozenset(removed))


def _decided(objects: Objects, step: _Step, lane: str | None) -> _Last | None:
    """What this commit alone decides; None where it depends on the conversation before it."""
    if step.others:
        return None
    files = TurnFiles(objects, step.commit)
    has_own = lane is not None and files.has_lane(lane)
    if step.state.first_format and not has_own:
        if step.state.head is None or step.state.head == step.before.head:
            return None
        head = first_format(objects.blob(step.state.head))
        return _Last(head.ref if head else None, settled=True)
    linked = [ref for ref in _leaves(files, step.added) if _is_linked(files, ref)]
    own = [ref for ref in linked if ref.lane == lane]
    if len(own) == 1:
        return _Last(_furthest(files, own[0]), _turn_commit(objects, step) is _Made.HERE)
    if len(linked) == 1 and not has_own and _turn_commit(objects, step) is _Made.HERE:
        return _Last(linked[0], settled=True)
    return None


def _after(objects: Objects, step: _Step, lane: str | None, before: _Last) -> _Last:
    """The last turn once `step` was made, if it was `before` until then."""
    files = TurnFiles(objects, step.commit)
    last = before.ref
    if last in step.removed and not step.others:
        last = _surviving(TurnFiles(objects, step.parent), files, last)
    if last is None and step.others:
        found = (_along(objects, other, lane).ref for other in step.others)
        last = next((ref for ref in found if ref is not None and files.in_tree(ref)), None)
    candidates = _candidates(objects, files, step, lane, _Last(last, before.settled))
    if not candidates:
        return _Last(last, before.settled)
    for other in step.others:
        there = TurnFiles(objects, other)
        if brought := [ref for ref in candidates if there.in_tree(ref)]:
            return _Last(files.latest(brought), before.settled)
    return _Last(_furthest(files, files.latest(candidates)), before.settled and last is not None)


def _candidates(objects: Objects, files: TurnFiles, step: _Step, lane: str | None, before: _Last) -> list[TurnRef]:
    last = before.ref
    leaves = _leaves(files, step.added)
    own = [ref for ref in leaves if lane is not None and ref.lane == lane]
    is_own = last is not None and lane is not None and last.lane == lane
    further = [ref for ref in leaves if last is None or _goes_on(files, ref, last)]
    if own and not is_own:
        return [ref for ref in own if ref in further] or own
    if further or step.others or before.settled or _turn_commit(objects, step) is None:
        return further
    if last is not None and lane is not None and files.has_lane(lane):
        return []
    # A turn that was replayed onto another conversation, as a rebase of a renamed branch does.
    return [ref for ref in leaves if _is_linked(files, ref)]


class _Made(Enum):
    """Where the commit of a turn was made: here by Forge, or elsewhere, and replayed here by git."""

    HERE = "here"
    ELSEWHERE = "elsewhere"


def _turn_commit(objects: Objects, step: _Step) -> _Made | None:
    """None for a commit that brings turns in another way, such as a squash."""
    commit = objects.commit(step.commit)
    if len(step.added) != 1 or turn_of(commit.message) != step.added[0].id:
        return None
    return _Made.HERE if commit.author == commit.committer else _Made.ELSEWHERE


def _leaves(files: TurnFiles, added: Iterable[TurnRef]) -> list[TurnRef]:
    every = list(added)
    parents = {files.facts(ref).parent for ref in every}
    return [ref for ref in every if ref not in parents]


def _is_linked(files: TurnFiles, ref: TurnRef) -> bool:
    parent = files.facts(ref).parent
    return parent is None or files.blob(parent) is not None


def _goes_on(files: TurnFiles, ref: TurnRef | None, last: TurnRef) -> bool:
    """Whether the conversation that ends with `ref` goes on from `last`."""
    while ref is not None and ref.number > last.number:
        ref = files.previous(ref)
    return ref == last


def _surviving(before: TurnFiles, files: TurnFiles, last: TurnRef | None) -> TurnRef | None:
    while last is not None and files.in_tree(last) is None:
        last = before.previous(last)
    return last


def _furthest(files: TurnFiles, ref: TurnRef) -> TurnRef:
    """`ref`, or what already goes on from it: a rebase may have put a later turn before an earlier one."""
    later = list(files.of_lane(ref.lane, ref.number))
    while later and (nexts := [each for each in later if files.facts(each).parent == ref]):
        ref = files.latest(nexts)
    return ref
