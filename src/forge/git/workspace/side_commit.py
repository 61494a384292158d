"""Part of a workspace committed beside its branch: to a ref of its own, in the same operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.objects import commits, trees
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.operations.operation import RefMove
from forge.git.refs.side_refs import inherited, kept_as, place_of
from forge.git.values import EMPTY_TREE, CommitId, ObjectId, ObjectKind, Signature

if TYPE_CHECKING:
    from forge.git.refs.ref_store import Refs
    from forge.git.workspace.work_in_progress import WorkInProgressVFS


@dataclass(frozen=True, slots=True)
class Parted:
    commit: CommitId | None
    """On the branch; None if everything that was pending went beside it."""
    beside: CommitId


def commit_apart(
    refs: Refs,
    vfs: WorkInProgressVFS,
    ref: str,
    is_apart: Callable[[str], bool],
    *,
    onto: CommitId | None,
    message: str,
    author: Signature,
    trailers: Mapping[str, str],
) -> Parted:
    """Commit what is pending: paths that are `apart` onto `ref`, the rest onto the branch. Both or neither.

    The commit of `ref` follows `onto`, which may be an older one than it is at: the branch was set back meanwhile.
    """
    text = commits.message_with(message, trailers)
    moves: list[RefMove] = []
    new: NewObjects = {}
    made: CommitId | None = None
    if any(not is_apart(path) for path in vfs.pending):
        made, new = vfs.draft(text, author, without=is_apart)
        moves.append(RefMove(branch_ref(vfs.branch), vfs.base, made))
    before = refs.target(ref)
    left = _left_behind(refs, vfs, before) if before is not None and before != onto else []
    said = commits.message_with(
        message, {**trailers, "Forge-Commit": str(made or vfs.base), "Forge-Place": place_of(vfs.objects)}
    )
    beside, more = _beside(vfs, onto, is_apart, said, author)
    # A crash between the two leaves what comes first; the branch is what says that it is done.
    moves = [*left, RefMove(ref, before, beside), *moves]
    vfs.last_operation = refs.land_together(moves, new | more, actor=vfs.actor, reason=text.splitlines()[0])
    return Parted(made, beside)


def _left_behind(refs: Refs, vfs: WorkInProgressVFS, before: CommitId) -> list[RefMove]:
    """What the ref leads to no longer is kept, and forks that read it get refs of their own."""
    if forks := inherited(vfs.objects, refs, vfs.branch):
        refs.move(forks, actor=vfs.actor, reason=f"conversations of forks of {vfs.branch}", forward=True)
    kept = kept_as(vfs.branch, before)
    return [kept] if refs.target(kept.ref) is None else []


def _beside(
    vfs: WorkInProgressVFS, before: CommitId | None, is_apart: Callable[[str], bool], text: str, author: Signature
) -> tuple[CommitId, NewObjects]:
    base = vfs.objects.commit(before).tree if before else EMPTY_TREE
    states = {path: state for path, state in vfs.pending.items() if is_apart(path)}
    changes = {path: state.entry if state else None for path, state in states.items()}
    tree, new = trees.rewrite(vfs.objects.raw_tree, base, changes)
    for state in states.values():
        if state is not None and state.data is not None:
            new[state.id] = RawObject(ObjectKind.BLOB, state.data)
    raw = commits.encoded(tree, [before] if before else [], author, author, text)
    made = CommitId(object_id(ObjectKind.COMMIT, raw))
    new[ObjectId(made)] = RawObject(ObjectKind.COMMIT, raw)
    return made, new
