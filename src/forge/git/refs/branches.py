"""Branches: listed, made, forked, renamed, rewound, deleted, and the last operations taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.checkout import checkouts
from forge.git.errors import (
    BranchExists,
    BranchMoved,
    NothingToUndo,
    OperationMissing,
)
from forge.git.history.revisions import tip_of
from forge.git.refs import side_refs
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.damage import damage_at
from forge.git.refs.operations.operation import Operation, RefMove
from forge.git.refs.ref_files import HEADS, KEPT, KEPT_BESIDE
from forge.git.values import Actor, ActorKind, CommitId
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs

_KEPT = (KEPT, KEPT_BESIDE)


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    tip: CommitId
    default: bool
    protected: bool
    checked_out: bool
    damage: str | None = None
    """What is wrong, where it cannot be read; without a tip if not even that can."""


def listed(objects: Objects, refs: Refs) -> tuple[Branch, ...]:
    default = refs.default_branch()
    here, protected = checkouts.branches_checked_out(objects), refs.protected_names()
    return tuple(
        Branch(name, tip, name == default, paths.folded(name) in protected, name in here, damage_at(objects, tip))
        for name, tip in refs.branches(damaged=True)
    )


def create(
    objects: Objects, refs: Refs, name: str, start: CommitId, *, actor: Actor, source: str | None = None
) -> Operation:
    """Started at the tip of `source`, it has the conversation of that branch."""
    ref = branch_ref(name)
    if refs.target(ref) is not None:
        raise BranchExists(f"{name} exists already.", hint="Choose another name, or open the existing branch.")
    _give_to_forks(objects, refs, name, actor)
    moves = [RefMove(ref, None, start), *side_refs.made_with(objects, refs, name, start, source)]
    return refs.move(moves, actor=actor, reason=f"new branch {name} at {start[:7]}")


def rename(objects: Objects, refs: Refs, old: str, new: str, *, actor: Actor) -> Operation:
    tip = tip_of(refs, old)
    if refs.tip(new) is not None:
        raise BranchExists(f"{new} exists already.", hint="Choose another name.")
    moves = [RefMove(branch_ref(new), None, tip), RefMove(branch_ref(old), tip, None)]
    if new.startswith(f"{old}/") or old.startswith(f"{new}/"):
        moves.reverse()  # git cannot hold both names at once; the kept ref bridges the moment between
    _settle(objects, refs, old, actor)
    moves += side_refs.renamed_with(refs, old, new)
    return refs.move(moves, actor=actor, reason=f"rename {old} to {new}")


def delete(objects: Objects, refs: Refs, name: str, *, actor: Actor) -> Operation:
    """The tip stays reachable under a Forge ref."""
    tip = tip_of(refs, name)
    _settle(objects, refs, name, actor)
    _give_to_forks(objects, refs, name, actor)
    moves = [RefMove(branch_ref(name), tip, None), *side_refs.dropped_with(refs, name)]
    return refs.move(moves, actor=actor, reason=f"delete {name}")


def rewind(
    objects: Objects, refs: Refs, name: str, to: CommitId, *, actor: Actor, said: CommitId | None = None
) -> Operation:
    """Set a branch back to an earlier commit, or to any other. The old tip stays reachable."""
    tip = tip_of(refs, name)
    _settle(objects, refs, name, actor, noted=False)
    _give_to_forks(objects, refs, name, actor)
    moves = [RefMove(branch_ref(name), tip, to), *side_refs.rewound_with(objects, refs, name, to, said)]
    return refs.move(moves, actor=actor, reason=f"rewind {name} to {to[:7]}")


def _settle(objects: Objects, refs: Refs, name: str, actor: Actor, *, noted: bool = True) -> None:
    if moves := side_refs.settled(objects, refs, name, noted=noted):
        refs.move(moves, actor=actor, reason=f"conversation of {name}", forward=True)


def _give_to_forks(objects: Objects, refs: Refs, name: str, actor: Actor) -> None:
    if moves := side_refs.inherited(objects, refs, name):
        refs.move(moves, actor=actor, reason=f"conversations of forks of {name}", forward=True)


def operations(refs: Refs) -> Iterator[Operation]:
    """What moved, newest first; moves made by others since the last look are recorded now."""
    refs.log.notice()
    return refs.log.newest_first()


def undo(refs: Refs, operation_id: str | None = None, *, actor: Actor) -> Operation:
    """Take back one operation: the last that is not itself an undo and not undone yet, or the one named."""
    operation = _undoable(refs, operation_id)
    moves = [RefMove(m.ref, m.after, m.before) for m in reversed(operation.moves) if not m.ref.startswith(_KEPT)]
    for move in moves:
        if refs.target(move.ref) != move.before:
            raise BranchMoved(
                f"{move.ref.removeprefix(HEADS)} has moved since that operation.",
                hint="Undo the later operations first.",
            )
    return refs.move(moves, actor=actor, reason=f"undo: {operation.reason}", undoes=operation.id)


def _undoable(refs: Refs, operation_id: str | None) -> Operation:
    undone: set[str] = set()
    for operation in operations(refs):
        if operation_id is not None:
            if operation.id == operation_id:
                return operation
        elif operation.undoes:
            # Undoing an undo brings the first operation back to life.
            if operation.id not in undone:
                undone.add(operation.undoes)
        elif (
            operation.id not in undone
            and operation.actor.kind is not ActorKind.EXTERNAL
            and any(move.ref.startswith(HEADS) for move in operation.moves)  # else only Forge's own bookkeeping
        ):
            return operation
    if operation_id is not None:
        raise OperationMissing(f"There is no operation {operation_id}.", hint="`forge undo --list` shows them.")
    hint = "`forge undo --list` shows what Forge did; what git did by itself, `git reflog` knows."
    raise NothingToUndo("Forge has moved nothing here that is left to undo.", hint=hint)
