"""Pending changes kept under a ref of their own, beside every branch, and made pending again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.objects.tree_diff import changed_entries
from forge.git.refs.operations.operation import RefMove
from forge.git.refs.reservations import reservations
from forge.git.values import Actor, ActorKind, CommitId, Signature

if TYPE_CHECKING:
    from forge.git.refs.ref_store import Refs
    from forge.git.workspace.work_in_progress import WorkInProgressVFS

_FOLDER = "refs/forge/turns/"


def keep(refs: Refs, vfs: WorkInProgressVFS, name: str) -> CommitId:
    """Make what is pending durable. A later snapshot of the same name takes its place; no branch moves."""
    # Always the same name and time: the same changes give the same commit.
    made, new = vfs.draft(f"what is pending on {vfs.branch}", Signature("Forge", "forge@localhost", 0))
    ref = _FOLDER + name
    move = RefMove(ref, refs.target(ref), made)
    if move.before != made:
        with vfs.objects.writing(new):
            refs.move(
                [move], actor=vfs.actor, reason=f"keep what is pending on {vfs.branch}", forward=True, written=new
            )
    return made


def restore(vfs: WorkInProgressVFS, snapshot: CommitId) -> None:
    """Make exactly what `snapshot` holds pending, on the base it was taken on."""
    vfs.discard()
    tree = vfs.objects.commit(snapshot).tree
    vfs.replace_pending({path: new for path, _, new in changed_entries(vfs.objects, vfs.base_tree, tree)})


def forget(refs: Refs, name: str) -> None:
    ref = _FOLDER + name
    found = refs.target(ref)
    if found is not None:
        who = Actor(ActorKind.AGENT, f"turn {name}")
        refs.move([RefMove(ref, found, None)], actor=who, reason="the turn has ended", forward=True)


def left_over(refs: Refs, common_dir: Path) -> tuple[str, ...]:
    """Snapshots of turns that reserve no branch any more: nobody continues those. A turn reserves its branch before
    its first snapshot, and forgets the snapshot before it releases the branch.
    """
    names = [ref.removeprefix(_FOLDER) for ref, _ in refs.under(_FOLDER)]
    at_work = {each.holder for each in reservations(common_dir)} if names else set()
    return tuple(name for name in names if name.partition("-")[2] not in at_work)
