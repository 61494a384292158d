"""A ref moves only to what is whole: every commit, folder and file that the new tip needs is sure to stay.

A move writes new objects and builds on old ones. The new ones are in a pack that no gc touches until the ref has moved.
The old ones begin at a few commits: parents of new commits, or the new tip itself where nothing is new; all other
objects that a new tip uses are in one of these, for that is how trees are rewritten and merges collected. In a sound
repository all that a ref leads to is there and no gc takes it. So it is enough to know a ref that leads to each of
these commits, and most moves know one for nothing:

- the ref that moves, compared under its lock; also its nearest ancestors, which undo and rewind go to;
- a hold of the turn that works here;
- the ref that this process last saw at the commit, or HEAD, if it is still there in the moment before the move. A gc
  cannot do all its work in that moment; should the ref have gone, the move begins anew with the next paragraph.

Other commits are held first, and then git is asked which of them no ref leads to: a walk as long as the distance to the
nearest ref, whatever the size of the repository. What no ref leads to may be gone any moment, by a gc that has begun
already, or be gone from the disk while this process still has its pack open. It is copied into a pack of its own that
stays until the ref has moved. What cannot be read any more stops the move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pygit2

from forge.git.errors import GitFailed, HistoryPruned, RepositoryUnreadable, RevisionMissing
from forge.git.objects import commits
from forge.git.objects.extra_objects import beyond
from forge.git.refs.holds import HELD, Held
from forge.git.values import CommitId, ObjectId, ObjectKind

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.objects.raw_object import NewObjects, RawObject
    from forge.git.refs.operations.operation import RefMove

_REMEMBERED = 4096
_NEAR = 64
_NO_HOLDS = (f"--exclude={HELD}*", "--all")
"""All refs but the holds: those were put there to ask about what they hold."""
_MOST_COPIED = 5000
"""Commits. Of more than that, only that they are there is checked."""

Family = Mapping[CommitId, Sequence[CommitId]]


class Reachability:
    def __init__(self, objects: Objects, held: Held, target: Callable[[str], CommitId | None]) -> None:
        self._objects = objects
        self._held = held
        self._target = target
        self._seen: dict[CommitId, str] = {}

    def saw(self, ref: str, commit: CommitId) -> None:
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[commit] = ref

    @contextmanager
    def secured(
        self, moves: Iterable[RefMove], new: Mapping[ObjectId, RawObject], *, trusting: bool
    ) -> Iterator[Callable[[], bool]]:
        """Inside the block everything that `moves` build on beside `new` is there and stays.

        `trusting`, a commit that a ref is known to lead to is not held: what is given tells whether the ref still does,
        and has to be asked in the moment before a ref is moved.
        """
        moves = tuple(moves)
        before = {move.before for move in moves if move.before is not None}
        wanted = _old_commits(moves, new).difference(before)
        if wanted:
            wanted -= self._near(before, wanted)
        known = {commit for commit in wanted if trusting and self._is_known(commit)}

        def still() -> bool:
            return all(self._is_known(commit) for commit in known)

        if not wanted - known:
            yield still
            return
        with self._held.during(wanted - known), self._objects.writing(self.copied(wanted - known)):
            yield still

    def copied(self, wanted: Iterable[CommitId]) -> NewObjects:
        """What no ref leads to of all that `wanted` need, as it was read just now. Hold `wanted` before."""
        unknown = [commit for commit in wanted if not self._is_known(commit)]
        if not unknown:
            return {}
        family = self._unreachable(unknown)
        if len(family) > _MOST_COPIED:
            self._refuse_holes(unknown)
            return {}
        found: NewObjects = {}
        try:
            for commit, parents in family.items():
                found[ObjectId(commit)] = self._objects.read(commit)
                trees = [self._objects.commit(parent).tree for parent in parents]
                found |= beyond(self._objects, self._objects.commit(commit).tree, trees)
        except RevisionMissing as e:
            if _is_partial(self._objects):  # what it leaves with its remote is no loss
                return {}
            raise _pruned(commit) from e
        return found

    def _is_known(self, commit: CommitId) -> bool:
        if self._held.holds(commit):
            return True
        ref = self._seen.get(commit)
        with suppress(RepositoryUnreadable):
            if ref is not None and self._target(ref) == commit:
                return True
        with suppress(KeyError, pygit2.GitError):
            return str(self._objects.handle.head.target) == commit
        return False

    def _near(self, starts: Iterable[CommitId], wanted: set[CommitId]) -> set[CommitId]:
        """Those of `wanted` that are among the nearest ancestors of `starts`."""
        found: set[CommitId] = set()
        waiting, seen = deque(starts), set(starts)
        with suppress(RevisionMissing, RepositoryUnreadable):
            while waiting and len(seen) < _NEAR and found != wanted:
                for parent in self._objects.commit(waiting.popleft()).parents:
                    if parent not in seen:
                        seen.add(parent)
                        waiting.append(parent)
                found = wanted & seen
        return found

    def _unreachable(self, starts: Sequence[CommitId]) -> Family:
        """Commits from `starts` on that no ref leads to, with their parents."""
        points = "".join(f"{commit}\n" for commit in starts).encode()
        try:
            rows = self._objects.git.text("rev-list", "--parents", "--stdin", "--not", *_NO_HOLDS, stdin=points)
        except GitFailed:
            # Some of them are gone from the disk, or a ref leads nowhere.
            return self._unreachable_in_memory(starts)
        return {CommitId(c): [CommitId(p) for p in parents] for c, *parents in map(str.split, rows.splitlines())}

    def _unreachable_in_memory(self, starts: Sequence[CommitId]) -> Family:
        """The same by reading here: a pack that is gone from the disk may still be open."""
        rows = self._objects.git.text("rev-list", "--ignore-missing", *_NO_HOLDS, ok=(0, 128))
        reachable = set(rows.split())
        found: dict[CommitId, Sequence[CommitId]] = {}
        waiting = [commit for commit in starts if commit not in reachable]
        while waiting:
            commit = waiting.pop()
            if commit not in found:
                if len(found) > _MOST_COPIED:
                    raise _pruned(commit)
                try:
                    found[commit] = self._objects.commit(commit).parents
                except RevisionMissing as e:
                    raise _pruned(commit) from e
                waiting += [parent for parent in found[commit] if parent not in reachable]
        return found

    def _refuse_holes(self, starts: Sequence[CommitId]) -> None:
        points = "".join(f"{commit}\n" for commit in starts).encode()
        try:
            self._objects.git.run("rev-list", "--objects", "--quiet", "--stdin", "--not", *_NO_HOLDS, stdin=points)
        except GitFailed as e:
            raise _pruned(starts[0]) from e


def _old_commits(moves: Iterable[RefMove], new: Mapping[ObjectId, RawObject]) -> set[CommitId]:
    """Where what the moves need and `new` does not hold begins."""
    found: set[CommitId] = set()
    waiting = [move.after for move in moves if move.after is not None]
    seen: set[CommitId] = set()
    while waiting:
        commit = waiting.pop()
        made = new.get(ObjectId(commit))
        if made is None or made.kind != ObjectKind.COMMIT:
            found.add(commit)
        elif commit not in seen:
            seen.add(commit)
            waiting += commits.decoded(commit, made.data).parents
    return found


def _is_partial(objects: Objects) -> bool:
    return any((objects.objects_dir / "pack").glob("*.promisor"))


def _pruned(commit: CommitId) -> HistoryPruned:
    return HistoryPruned(
        f"What this builds on is gone: a `git gc` or `git prune` has removed {commit[:12]}, or parts of it. "
        "No branch was moved.",
        hint="Start again from an existing branch; `forge doctor` checks them.",
    )
