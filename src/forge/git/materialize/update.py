"""Brings a directory from whatever state it is in to what is wanted, and looks it over when it is left."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.git.materialize import budget as budgets
from forge.git.materialize import bulk, scan, sweep, writer
from forge.git.materialize import manifest as states
from forge.git.materialize import plan as plans
from forge.git.materialize.blobs import contents
from forge.git.materialize.manifest import Held, folders_above
from forge.git.materialize.plan import Plan, had
from forge.git.materialize.safe_walk import FOLDER
from forge.git.materialize.stat_index import IndexDamaged
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.materialize.budget import Budget
    from forge.git.materialize.links import Spelling
    from forge.git.materialize.slots import Slot
    from forge.git.materialize.wanted import Wanted
    from forge.git.objects.object_store import Objects


def filled(objects: Objects, wanted: Wanted, slot: Slot, budget: Budget, *, keep_ignored: bool) -> Held:
    """Make the directory hold what is wanted, from whatever state it is in."""
    known = states.load(slot.state)
    if known is not None and _sound(slot, known[0]):
        try:
            return _brought_up_to_date(objects, wanted, slot, *known, keep_ignored=keep_ignored)
        except (IndexDamaged, FileNotFoundError, NotADirectoryError):
            pass  # somebody removed or damaged what is known about the directory: begin again
    budgets.enforce(slot.path.parent, budget, keep=slot)
    _clear(slot)
    scan.prepare(slot.git_dir, objects)
    held = Held()
    plan = plans.anew(objects, wanted, {}, set(), spelling(slot))
    _fill_by_git(objects, wanted, slot, held, plan)
    _carry_out(objects, wanted, slot, held, plan)
    states.save(slot.state, held, in_use=True)
    return held


def _fill_by_git(objects: Objects, wanted: Wanted, slot: Slot, held: Held, plan: Plan) -> None:
    """Let git write the bulk of a new directory; what is left in the plan is for our own writer."""
    stored = {p: e for p, e in plan.write.items() if p not in wanted.pending and not e.is_submodule}
    if len(stored) < bulk.WORTH_IT or slot.ignores_case:
        return
    index = slot.git_dir / "index-1"
    began = time.time_ns()
    if not bulk.filled(objects, slot.files, index, stored):
        _emptied(slot, "files")
        return
    states.use_index(held, index, began=began)
    plan.write = {path: entry for path, entry in plan.write.items() if path not in stored}
    for folder in {path.rpartition("/")[0] for path in stored}:
        held.folders |= dict.fromkeys((*folders_above(folder), folder), 0)


def _sound(slot: Slot, held: Held) -> bool:
    """Whether what belongs to a directory is there; somebody may have tidied up the cache."""
    index = slot.git_dir / held.index
    return slot.files.is_dir() and (slot.git_dir / "HEAD").exists() and _size(index) == held.index_bytes


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else -1


def _clear(slot: Slot) -> None:
    slot.state.unlink(missing_ok=True)
    _emptied(slot, "files")
    _emptied(slot, "git")


def _emptied(slot: Slot, name: str) -> None:
    folder = os.open(slot.path, FOLDER)
    try:
        sweep.remove(folder, name)
        os.mkdir(name, 0o755, dir_fd=folder)
    finally:
        os.close(folder)


def _brought_up_to_date(
    objects: Objects, wanted: Wanted, slot: Slot, held: Held, interrupted: set[str] | None, *, keep_ignored: bool
) -> Held:
    if slot.files.lstat().st_mode & 0o700 != 0o700:
        slot.files.chmod(0o755)
    leftovers = _leftovers(objects, slot, held, interrupted)
    if not keep_ignored:
        leftovers |= scan.untracked(objects, slot.files, slot.git_dir, held)
    plan = _planned(objects, wanted, slot, held, leftovers)
    states.mark(slot.state, leftovers | plan.write.keys() | plan.remove)
    _carry_out(objects, wanted, slot, held, plan)
    return held


def _leftovers(objects: Objects, slot: Slot, held: Held, interrupted: set[str] | None) -> set[str]:
    """Paths that may hold something wrong. A directory that was left in order is believed, else looked through."""
    if interrupted is None and held.from_this_boot and scan.unchanged_folders(slot.files, held):
        return held.leftovers
    suspects = set() if held.from_this_boot else set(states.entries(held, slot.git_dir))
    found = scan.differences(objects, slot.files, slot.git_dir, held)
    return held.leftovers | (interrupted or set()) | suspects | found.all


def _planned(objects: Objects, wanted: Wanted, slot: Slot, held: Held, leftovers: set[str]) -> Plan:
    if not slot.ignores_case:
        try:
            return plans.update(objects, held, wanted, leftovers, spelling(slot))
        except (RevisionMissing, RepositoryUnreadable):
            pass  # the tree that is there is gone from the repository, or unfolds too far to compare
    return plans.anew(objects, wanted, states.entries(held, slot.git_dir), leftovers, spelling(slot))


def _carry_out(objects: Objects, wanted: Wanted, slot: Slot, held: Held, plan: Plan) -> None:
    """Write the difference, and know it from then on. The state on the disk may stay: the mark says what differs."""
    known = {path for path in plan.remove if path in held.written or _known(objects, held, path)}
    submodules = [path for path, entry in plan.write.items() if entry.is_submodule]
    kept = {path for path in plan.skipped if path in held.folders} | set(submodules)
    removed = writer.remove(slot.files, plan.remove, keep=kept)
    _forget_folders(held, removed.gone | plan.remove)
    unwritten = {new.id: new.data for new in wanted.pending.values() if new and new.data is not None}
    with closing(contents(objects, sorted(plan.write.items()), unwritten)) as files:
        written = writer.write(slot.files, files)
    held.tree, held.own = wanted.tree, wanted.own()
    held.links, held.skipped = plan.links, plan.skipped | written.refused
    held.written |= dict.fromkeys(known | written.refused.keys())
    held.written |= written.written
    for folder in removed.folders | written.folders:
        held.folders |= dict.fromkeys((*folders_above(folder), folder), 0)
    held.leftovers = set()
    indexed = states.with_index(held, slot.git_dir)
    states.settle(held, time.time_ns())
    if indexed:
        states.save(slot.state, held, in_use=True)
        states.drop_other_indexes(held, slot.git_dir)


def _known(objects: Objects, held: Held, path: str) -> bool:
    """Whether the index may have `path`. If the tree that the directory holds cannot be read, any may be."""
    try:
        return had(objects, held, path) is not None
    except (RevisionMissing, RepositoryUnreadable):
        return True


def _forget_folders(held: Held, gone: set[str]) -> None:
    if gone:
        held.folders = {
            folder: changed
            for folder, changed in held.folders.items()
            if folder not in gone and gone.isdisjoint(folders_above(folder))
        }


def left(objects: Objects, slot: Slot, held: Held, budget: Budget, *, used: bool) -> None:
    """Look over what commands left, so that the next user need not. Without its path nobody can have used it."""
    if used:
        held.leftovers = scan.differences(objects, slot.files, slot.git_dir, held).all
        states.with_index(held, slot.git_dir)
    scan.note_folders(slot.files, held)
    states.save(slot.state, held, in_use=False)
    states.drop_other_indexes(held, slot.git_dir)
    if used and budgets.measured(slot):
        budgets.enforce(slot.path.parent, budget, keep=slot)


def spelling(slot: Slot) -> Spelling:
    """How names are distinguished where the slot is."""
    return paths.folded if slot.ignores_case else str
