"""Three-way merge of trees: quick where nothing can clash, by git where contents or renames have to be looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.errors import PathClash
from forge.git.merging.conflict import Conflict, Resolution, Side, TreeMerge
from forge.git.merging.git_merge import GitMerge, GitMerger, above, asking_git
from forge.git.merging.incoming_changes import (
    Incoming,
    Taken,
    incoming,
    may_have_moved,
    taken,
    taken_sessions,
    with_sessions,
)
from forge.git.objects import trees
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.objects.tree_diff import changed_entries
from forge.git.values import CommitId, Entry, Mode, ObjectId, ObjectKind
from forge.git.workspace.forge_records import is_record

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_KIND = re.compile(r"CONFLICT ?\(([^)]+)\)")


@contextmanager
def merging(objects: Objects, new: NewObjects) -> Iterator[ThreeWay]:
    """Merge trees, collecting in `new` what does not exist yet. Nothing is written to the repository."""
    with ExitStack() as stack:
        yield ThreeWay(objects, new, stack)


class ThreeWay:
    def __init__(self, objects: Objects, new: NewObjects, stack: ExitStack) -> None:
        self.view = objects.with_new(new)
        self._stack = stack
        self._merger: GitMerger | None = None

    def trees(
        self,
        base: ObjectId,
        ours: ObjectId,
        theirs: ObjectId,
        *,
        names: tuple[str, str] = ("ours", "theirs"),
        prefer_theirs: bool = False,
    ) -> TreeMerge:
        """Merge `theirs` into `ours`; `prefer_theirs` says whose conversation stays where both continued."""
        return self._merged(base, ours, theirs, names, prefer_theirs=prefer_theirs)

    def commits(
        self, bases: tuple[CommitId, ...], ours: CommitId, theirs: CommitId, *, names: tuple[str, str]
    ) -> TreeMerge:
        """Merge the trees of two commits that meet in `bases`."""
        base, our, their = (self.view.commit(c).tree for c in (bases[0], ours, theirs))
        return self._merged(base, our, their, names, commits=(ours, theirs), several=len(bases) > 1)

    def _merged(
        self,
        base: ObjectId,
        ours: ObjectId,
        theirs: ObjectId,
        names: tuple[str, str],
        *,
        commits: tuple[CommitId, CommitId] | None = None,
        several: bool = False,
        prefer_theirs: bool = False,
    ) -> TreeMerge:
        if not several and (theirs in (base, ours) or ours == base):
            return TreeMerge(theirs if ours == base else ours)
        theirs_in = incoming(self.view, base, theirs)
        sessions = taken_sessions(self.view, theirs_in, ours, prefer_theirs=prefer_theirs)
        changes = None if several else taken(self.view, theirs_in, ours)
        if changes is not None:
            return self._taken_over(ours, changes | sessions)
        merger = self._ask()
        merger.show_attributes(ours, self._taking_part(theirs_in, ours, several=several))
        merged = merger.merge(*commits, names) if commits else merger.merge_trees(base, ours, theirs, names)
        self.view.new.update(merger.new)
        tree, made = with_sessions(self.view, merged.tree, ours, sessions)
        self.view.new.update(made)
        conflicts = tuple(_conflicts(self.view, merged))
        return TreeMerge(tree, conflicts, tuple(m.text for m in merged.messages if _matters(m.paths)))

    def _taken_over(self, ours: ObjectId, changes: Taken) -> TreeMerge:
        tree, made = trees.rewrite(self.view.raw_tree, ours, changes)
        self.view.new.update(made)
        rows = ((path, self.view.entry(ours, path), changes[path]) for path in sorted(changes, key=trees.encode))
        return TreeMerge(tree, changed=tuple(row for row in rows if row[1] != row[2]))

    def _taking_part(self, theirs: Incoming, ours: ObjectId, *, several: bool) -> Iterator[str]:
        """Every path whose contents may have to be merged."""
        yield from (path for path, _, _ in theirs.changes)
        if several or may_have_moved(self.view, theirs, ours):
            yield from (path for path, _, _ in changed_entries(self.view, theirs.base, ours))

    def _ask(self) -> GitMerger:
        if self._merger is None:
            self._merger = self._stack.enter_context(asking_git(self.view))
        self._merger.give(self.view.new)
        return self._merger


def _matters(about: Iterable[str]) -> bool:
    return not all(is_record(path) for path in about)


def _conflicts(objects: Objects, merged: GitMerge) -> Iterator[Conflict]:
    if merged.clean:
        return
    kinds: dict[str, str] = {}
    for message in merged.messages:
        found = _KIND.search(message.text) or _KIND.search(message.kind)
        for path in message.paths if found else ():
            kinds.setdefault(path, found[1] if found else "")
    staged = {path: stages for path, stages in merged.stages.items() if not is_record(path)}
    for path, stages in staged.items():
        base, ours, theirs = (stages.get(number) for number in (1, 2, 3))
        marked = _marked(objects, merged.tree, path, (base, ours, theirs))
        yield Conflict(path, kinds.get(path, "content"), base, ours, theirs, marked)
    if not staged:
        # git can be unsure about a whole folder without any file being in conflict.
        unsure = [m for m in merged.messages if _KIND.search(m.kind) and _matters(m.paths)]
        for message in unsure:
            path = message.paths[0]
            yield Conflict(path, kinds.get(path, message.kind), None, None, None, None)


def _marked(objects: Objects, tree: ObjectId, path: str, sides: Iterable[Side | None]) -> bytes | None:
    found = objects.entry(tree, path)
    if found is None or found.mode not in (Mode.FILE, Mode.EXECUTABLE):
        return None
    return None if any(side and side.id == found.id for side in sides) else objects.blob(found.id)


def with_resolutions(
    objects: Objects, merged: TreeMerge, resolutions: Mapping[str, Resolution]
) -> tuple[TreeMerge, NewObjects]:
    """The merge with the conflicts settled that `resolutions` names; the others stay."""
    by_path = {conflict.path: conflict for conflict in merged.conflicts}
    strange = sorted(set(resolutions) - set(by_path))
    if strange:
        raise InvalidInput(
            f"{', '.join(strange[:5])}: not in conflict, so there is nothing to resolve.",
            hint="Resolve only conflicted paths; change other files in a commit of their own.",
        )
    changes: dict[str, Entry | None] = {}
    made: NewObjects = {}
    for path, resolution in resolutions.items():
        conflict = by_path[path]
        if not (conflict.base or conflict.ours or conflict.theirs) and resolution is not None:
            raise InvalidInput(f"{path} has no content of its own.", hint="Accept the merge with None.")
        new = _resolved(objects, merged.tree, conflict, resolution, made)
        if new is not None or _is_file(objects.entry(merged.tree, path)):
            changes[path] = new
    for path in changes:
        _refuse_clash(objects, merged.tree, path, changes)
    tree, more = trees.rewrite(objects.raw_tree, merged.tree, changes)
    left = tuple(conflict for conflict in merged.conflicts if conflict.path not in resolutions)
    return TreeMerge(tree, left, merged.messages), made | more


def _resolved(
    objects: Objects, tree: ObjectId, conflict: Conflict, resolution: Resolution, made: NewObjects
) -> Entry | None:
    if resolution is None:
        return None
    if isinstance(resolution, Entry):
        if resolution not in (conflict.base, conflict.ours, conflict.theirs):
            raise InvalidInput(f"That is no side of {conflict.path}.", hint="Give a side or the content.")
        return resolution
    if isinstance(resolution, str):
        resolution = resolution.encode("utf-8", "surrogateescape")
    sides = (objects.entry(tree, conflict.path), conflict.ours, conflict.theirs, conflict.base)
    like = next((side for side in sides if side is not None and not side.is_tree), None)
    if like is not None and like.is_submodule:
        raise InvalidInput(f"{conflict.path} is a submodule; it has no content.", hint="Give one of its sides instead.")
    oid = object_id(ObjectKind.BLOB, resolution)
    made[oid] = RawObject(ObjectKind.BLOB, resolution)
    return Entry(like.mode if like else Mode.FILE, oid)


def _is_file(found: Entry | None) -> bool:
    return found is not None and not found.is_tree


def _refuse_clash(objects: Objects, tree: ObjectId, path: str, changes: Mapping[str, Entry | None]) -> None:
    if changes[path] is None:
        return
    here = objects.entry(tree, path)
    places = [objects.entry(tree, folder) for folder in above(path) if changes.get(folder, True)]
    if (here is not None and here.is_tree) or any(_is_file(place) for place in places):
        raise PathClash(
            f"{path} cannot be a file: a file or folder of that name is in the way.",
            hint="Resolve it with None and keep the other.",
        )
