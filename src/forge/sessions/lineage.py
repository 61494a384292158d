"""Which turn is the last one of a branch: it follows from the tree and the first-parent line, whatever git did to them.

The newest commit on that line that brings turns decides. A merge keeps the conversation that the branch had, unless
what it brings goes on from there. docs/sessions.md has the table. A message's trailer is never believed against the
tree: it only tells the commit of a turn from a squash that brings one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from forge.git import CommitId, ObjectId
from forge.git.objects.cache import Cache
from forge.git.objects.object_store import Objects
from forge.git.objects.tree_diff import changed_entries
from forge.sessions.layout import TurnRef, lane_of, ref_at
from forge.sessions.trailers import turn_of
from forge.sessions.turn_files import TurnFiles, TurnsState, has_turns, state_of

_MOST = 1 << 20
_EACH = 200
_UNSAID = 100
"""So many commits without any turn in their tree are looked through for a merge that took the turns away."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The last turn of a line, if any."""

    ref: TurnRef | None = None


_KNOWN: WeakKeyDictionary[Objects, Cache[tuple[CommitId, str | None], _Found]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class _Step:
    """One commit of the line, against its first parent."""

    commit: CommitId
    parent: CommitId | None
    others: tuple[CommitId, ...]
    state: TurnsState
    before: TurnsState
    added: tuple[TurnRef, ...]
    removed: frozenset[TurnRef]

    @property
    def changed(self) -> bool:
        return self.state.folder != self.before.folder


def last_turn(objects: Objects, commit: CommitId | None, branch: str | None) -> TurnRef | None:
    """The last turn of the conversation at `commit`, as `branch` has it if that is named."""
    lane = lane_of(branch) if branch else None
    found = _along(objects, commit, lane)
    if lane is not None and commit is not None and (found is None or found.lane != lane):
        files = TurnFiles(objects, commit)
        if not files.has_lane(lane):
            return files.last_record(lane) or found
    return found


def _along(objects: Objects, tip: CommitId | None, lane: str | None) -> TurnRef | None:
    known = _KNOWN.setdefault(objects, Cache(_MOST, lambda _: _EACH))
    waiting: list[_Step] = []
    last: TurnRef | None = None
    unsaid = 0
    commit = tip
    while commit is not None:
        cached = known.get((commit, lane))
        if cached is not None:
            last = cached.ref
            break
        step = _step(objects, commit)
        has_some = has_turns(objects, step.state)
        unsaid += not has_some
        if unsaid > _UNSAID:
            break
        # A merge may bring a conversation whose files are all there already.
        if step.changed or (step.others and has_some):
            last = _decided(objects, step, lane)
            if last is not None:
                known.put((commit, lane), _Found(last))
                break
            waiting.append(step)
        commit = step.parent
    for step in reversed(waiting):
        last = _after(objects, step, lane, last)
        known.put((step.commit, lane), _Found(last))
    if tip is not None:
        known.put((tip, lane), _Found(last))
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


def _decided(objects: Objects, step: _Step, lane: str | None) -> TurnRef | None:
    """The turn that this commit alone makes the last one; None where it depends on the conversation before it."""
    made = _turn_of(objects, step)
    if made is None:
        return None
    files = TurnFiles(objects, step.commit)
    is_own = lane is not None and made.lane == lane
    if not is_own and (not _is_linked(files, made) or _has_own(objects, step.parent, lane)):
        return None
    # A rebase may have put a later turn before this one.
    return made if _made_here(objects, step) or not files.has_later(made) else None


def _after(objects: Objects, step: _Step, lane: str | None, last: TurnRef | None) -> TurnRef | None:
    """The last turn once `step` was made, if it was `last` until then."""
    if last is not None and not step.changed:
        return last
    files = TurnFiles(objects, step.commit)
    had_own = _has_own(objects, step.parent, lane)
    for other in step.others:
        there = TurnFiles(objects, other)
        if last is None:
            last = _surviving(there, _along(objects, other, lane), files.in_tree)
        else:
            brought = [ref for ref in step.added if there.in_tree(ref)]
            last = _joined(files, brought, last, lane, had_own=had_own)
    if step.others:
        return last
    if last in step.removed:
        last = _surviving(TurnFiles(objects, step.parent), last, files.blob)
    made = _turn_of(objects, step)
    if made is None:
        return _joined(files, step.added, last, lane, had_own=had_own)
    if last is None or _goes_on(files, made, last):
        return made
    if _goes_on(files, last, made):
        return last
    is_own = lane is not None and made.lane == lane
    return made if is_own or (not had_own and _is_linked(files, made)) else last


def _joined(
    files: TurnFiles, added: Iterable[TurnRef], last: TurnRef | None, lane: str | None, *, had_own: bool
) -> TurnRef | None:
    """The last turn once `added` came: what goes on from `last`; before it, what was made under the branch's name."""
    leaves = [ref for ref in _leaves(files, added) if last is None or not _goes_on(files, last, ref)]
    further = [ref for ref in leaves if last is None or _goes_on(files, ref, last)]
    if last is not None and had_own:
        own = [ref for ref in leaves if ref.lane == lane and last.lane != lane]
        chosen = further or own
    else:
        own = [ref for ref in leaves if _is_own(files, ref, lane)]
        chosen = [ref for ref in own if ref in further] or own or further
    return files.latest(chosen) if chosen else last


def _turn_of(objects: Objects, step: _Step) -> TurnRef | None:
    """The turn whose own commit this is, made here or replayed; None for one that brings turns in another way."""
    if step.others or len(step.added) != 1 or turn_of(objects.commit(step.commit).message) != step.added[0].id:
        return None
    return step.added[0]


def _made_here(objects: Objects, step: _Step) -> bool:
    """Whether Forge made the commit in this place. Only saves work: nothing in the tree can go on from its turn."""
    commit = objects.commit(step.commit)
    return commit.author == commit.committer


def _has_own(objects: Objects, commit: CommitId | None, lane: str | None) -> bool:
    return lane is not None and TurnFiles(objects, commit).has_lane(lane)


def _is_own(files: TurnFiles, ref: TurnRef | None, lane: str | None) -> bool:
    """Whether somebody talked under the branch's name in the conversation that ends with `ref`."""
    while lane is not None and ref is not None and ref.lane != lane:
        ref = files.previous(ref)
    return lane is not None and ref is not None


def _leaves(files: TurnFiles, added: Iterable[TurnRef]) -> list[TurnRef]:
    every = list(added)
    before = {files.previous(ref) for ref in every}
    return [ref for ref in every if ref not in before]


def _is_linked(files: TurnFiles, ref: TurnRef) -> bool:
    """Whether the conversation of `ref` is here, from its beginning or in part."""
    return files.facts(ref).parent is None or files.previous(ref) is not None


def _goes_on(files: TurnFiles, ref: TurnRef | None, last: TurnRef) -> bool:
    """Whether the conversation that ends with `ref` goes on from `last`."""
    while ref is not None and ref.number > last.number:
        ref = files.previous(ref)
    return ref == last


def _surviving(
    before: TurnFiles, last: TurnRef | None, is_left: Callable[[TurnRef], ObjectId | None]
) -> TurnRef | None:
    while last is not None and is_left(last) is None:
        last = before.previous(last)
    return last
