"""A checkout in which the person has changes of their own, brought along as far as that loses nothing.

The index follows wherever it has what the old commit has, so that the person's next commit takes back nothing of what
was saved. Files follow where they are clean; what the person edited, deleted or staged stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.checkout.checkout_update import OwnChange, OwnKind, PartialUpdate, own_change
from forge.git.checkout.index_copy import Entries, IndexCopy, is_hidden, locked_copy
from forge.git.errors import CheckoutInTheWay
from forge.git.objects import trees
from forge.git.objects.raw_object import NewObjects
from forge.git.values import Entry, ObjectId

if TYPE_CHECKING:
    from forge.git.checkout.worktrees import Worktree
    from forge.git.objects.object_store import Objects
    from forge.git.objects.tree_diff import ChangedEntry

# git would remove clean files that a sparse checkout leaves out, though the person has put them there.
_READ_TREE = ("read-tree", "--no-sparse-checkout", "--no-recurse-submodules", "-u", "-m")


def bring_along(
    objects: Objects,
    worktree: Worktree,
    before: ObjectId,
    after: ObjectId,
    changes: Sequence[ChangedEntry],
    *,
    left_over: Sequence[ObjectId] = (),
    has_room: bool = True,
) -> PartialUpdate:
    """`left_over` are trees whose content may be in the index because Forge died before it moved the branch."""
    with locked_copy(objects, worktree) as copy:
        index_before = _read(worktree)
        entries = copy.entries()
        plan = _Plan(objects, worktree, entries, changes)
        plan.sort_index(copy.differing(before), copy.differing(after), left_over)
        plan.refuse_clashes()
        left_out = copy.outside_sparse(path for path, (_, new) in plan.brought.items() if new)
        plan.sort_files(copy.edited(), left_out, has_room=has_room)
        copy.put({path: new for path, (_, new) in plan.brought.items() if path not in plan.followed})
        copy.flag(dict.fromkeys(plan.left_out, "S"))
        others = entries.keys() - plan.brought.keys()
        if not _kept(copy, entries, others):
            raise _unreliable(worktree)
        if plan.followed:
            _carry_files(objects, copy, before, plan)
            if not _kept(copy, entries, others):
                raise _unreliable(worktree)
        copy.replace_index()
        own = tuple(sorted(plan.own, key=lambda each: each.path))
        return PartialUpdate(own, plan.followed, index_before, _read(worktree))


def _kept(copy: IndexCopy, entries: Entries, paths: AbstractSet[str]) -> bool:
    now = copy.entries()
    return all(now.get(path) == entries[path] for path in paths)


def _unreliable(worktree: Worktree) -> CheckoutInTheWay:
    """Some versions of git write a sparse index wrongly when it has files that are only intended to be added."""
    return CheckoutInTheWay(
        f"git cannot rewrite the index of your checkout {worktree.path} without losing entries. Nothing was changed.",
        hint="Run `git sparse-checkout reapply --no-sparse-index` there, or add or forget files marked with "
        "`git add --intent-to-add`.",
    )


def take_back(objects: Objects, worktree: Worktree, before: ObjectId, done: PartialUpdate) -> bool:
    """Undo it, unless the index has changed since."""
    with locked_copy(objects, worktree) as copy:
        if _read(worktree) != done.index_after:
            return False
        if done.followed:
            old, new = _trees_of(objects, before, done.followed)
            conflicts = _without_conflicts(copy)
            with objects.writing(old[1] | new[1]):
                copy.git(*_READ_TREE, new[0], old[0])
            copy.put_conflicts(conflicts)
        copy.restore(done.index_before)
        return True


def _read(worktree: Worktree) -> bytes:
    try:
        return (worktree.git_dir / "index").read_bytes()
    except FileNotFoundError:
        return b""


class _Plan:
    """Which paths the index takes over (`brought`), which of their files follow, and what is the person's own."""

    def __init__(self, objects: Objects, worktree: Worktree, entries: Entries, changes: Sequence[ChangedEntry]) -> None:
        self._objects = objects
        self._worktree = worktree
        self._entries = entries
        self._changes = changes
        self.brought: dict[str, tuple[Entry | None, Entry | None]] = {}
        self.followed: dict[str, tuple[Entry | None, Entry | None]] = {}
        self.left_out: set[str] = set()
        """New paths that a sparse checkout does not show."""
        self.own: list[OwnChange] = []

    def sort_index(self, off_old: set[str], off_new: set[str], left_over: Sequence[ObjectId]) -> None:
        for path, old, new in self._changes:
            staged = self._entries.get(path, ())
            if any(each.stage for each in staged):
                self._keep(path, OwnKind.CONFLICTED, new)
            elif path not in off_old:
                self.brought[path] = old, new
            elif path in off_new:
                now = staged[0].entry if staged else None
                if any(self._objects.entry(tree, path) == now for tree in left_over):
                    self.brought[path] = now, new
                else:
                    self._keep(path, OwnKind.STAGED, new)

    def refuse_clashes(self) -> None:
        """A file and a folder of one name do not fit into one index."""
        gone = {path for path, (_, new) in self.brought.items() if new is None}
        files = self._entries.keys() - gone
        folders = {folder for path in files for folder in _above(path)}
        for path, (old, new) in self.brought.items():
            if new is None or old is not None:
                continue
            if path in folders or any(folder in files for folder in _above(path)):
                raise CheckoutInTheWay(
                    f"{path} cannot be saved: your checkout {self._worktree.path} has staged files of your own "
                    "where it has to be, and your next commit there would remove it.",
                    hint="Commit or unstage them there (`git restore --staged`), or switch it to another branch.",
                )

    def sort_files(self, edited: set[str], left_out: set[str], *, has_room: bool) -> None:
        known = {path: each for path, each in self.brought.items() if each[0] is not None}
        # What goes first makes room for what comes.
        for path, (old, new) in [*known.items(), *(self.brought.items() - known.items())]:
            if self._is_left_out(path, left_out):
                continue
            kind = self._kind(path, new, edited) if path in known else self._kind_of_new(path)
            if kind or not has_room:
                self._keep(path, kind or OwnKind.NO_ROOM, new)
            else:
                self.followed[path] = old, new

    def _is_left_out(self, path: str, left_out: set[str]) -> bool:
        if os.path.lexists(self._worktree.path / path):
            return False
        if path in self._entries:
            return self._entries[path][0].tag.upper() == "S"
        if path in left_out:
            self.left_out.add(path)
        return path in left_out

    def _kind(self, path: str, new: Entry | None, edited: set[str]) -> OwnKind | None:
        """What the person has made of a file that the index knows; None where it is clean, or gone on both sides."""
        there = os.path.lexists(self._worktree.path / path)
        tag = self._entries[path][0].tag
        if there and is_hidden(tag):
            return OwnKind.HIDDEN
        if not there:
            return OwnKind.DELETED if new else None
        return OwnKind.EDITED if path in edited else None

    def _kind_of_new(self, path: str) -> OwnKind | None:
        intended = path in self._entries  # by `git add --intent-to-add`
        if not self._is_free(path):
            return OwnKind.UNTRACKED
        return OwnKind.DELETED if intended else None

    def _is_free(self, path: str) -> bool:
        """Whether nothing but files that go is where a new file has to be."""
        root = self._worktree.path
        found = blocker(root, path)
        if found is None or self._goes(found):
            return True
        if found != path or not is_folder(root / found):
            return False
        return all(self._goes(below) for below in _files_below(root, found))

    def _goes(self, path: str) -> bool:
        return path in self.followed and self.followed[path][1] is None

    def _keep(self, path: str, kind: OwnKind, new: Entry | None) -> None:
        self.own.append(own_change(path, kind, self._worktree.path, removed=new is None))


def _carry_files(objects: Objects, copy: IndexCopy, before: ObjectId, plan: _Plan) -> None:
    """Let git carry files and index entries that are clean. It checks them again and refuses rather than overwrites."""
    old, new = _trees_of(objects, before, plan.followed)
    tags = {path: found[0].tag for path, found in copy.entries().items() if plan.followed.get(path, (None, None))[1]}
    conflicts = _without_conflicts(copy)
    with objects.writing(old[1] | new[1]):
        copy.git(*_READ_TREE, old[0], new[0])
    copy.put_conflicts(conflicts)
    copy.flag(tags)


_Written = tuple[ObjectId, NewObjects]


def _trees_of(
    objects: Objects, before: ObjectId, followed: Mapping[str, tuple[Entry | None, Entry | None]]
) -> tuple[_Written, _Written]:
    """Trees that differ in the files that follow, and in nothing that is the person's."""
    old = trees.rewrite(objects.raw_tree, before, {path: entry for path, (entry, _) in followed.items()})
    made = old[1]

    def read(tree: ObjectId) -> list[trees.RawEntry]:
        return trees.parsed(made[tree].data) if tree in made else objects.raw_tree(tree)

    return old, trees.rewrite(read, old[0], {path: entry for path, (_, entry) in followed.items()})


def _without_conflicts(copy: IndexCopy) -> Entries:
    """git merges no trees into an index with conflicts; they are taken out and put back afterwards."""
    conflicts = {path: found for path, found in copy.entries().items() if found[0].stage}
    if conflicts:
        copy.put(dict.fromkeys(conflicts))
    return conflicts


def blocker(root: Path, path: str) -> str | None:
    """The first thing on the way down to `path`, or at its end, that is no directory to go through."""
    names = path.split("/")
    for depth in range(1, len(names) + 1):
        here = "/".join(names[:depth])
        if not os.path.lexists(root / here):
            return None
        if depth == len(names) or not is_folder(root / here):
            return here
    return None


def is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _files_below(root: Path, folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(root / folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        yield from (str((Path(place) / name).relative_to(root)) for name in [*names, *links])


def _above(path: str) -> list[str]:
    return [path[:at] for at, letter in enumerate(path) if letter == "/"]
