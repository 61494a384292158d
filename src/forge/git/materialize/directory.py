"""A real directory for commands: filled or brought up to date when taken, looked over when left."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from forge.git import disk, paths
from forge.git.errors import GitFailed, RepositoryUnreadable, RevisionMissing
from forge.git.materialize import budget as budgets
from forge.git.materialize import held as states
from forge.git.materialize import plan as plans
from forge.git.materialize import scan, sweep, writer
from forge.git.materialize.blobs import contents
from forge.git.materialize.budget import Budget
from forge.git.materialize.collect import CollectedChange, Limits, Note, gather, put_into, remember
from forge.git.materialize.descent import FOLDER
from forge.git.materialize.held import Held, folders_above
from forge.git.materialize.links import Spelling
from forge.git.materialize.plan import Plan, had
from forge.git.materialize.slots import Slot, taken
from forge.git.materialize.stat_index import Damaged
from forge.git.materialize.wanted import Wanted
from forge.git.objects import Objects
from forge.git.vfs import GitCommitVFS
from forge.git.workspace import WorkInProgressVFS

View = GitCommitVFS | WorkInProgressVFS


class MaterializedDirectory(os.PathLike[str]):
    """The files of a view as real ones. Use it like a path: `directory / "setup.py"`, `str(directory)`."""

    def __init__(self, objects: Objects, vfs: View, slot: Slot, held: Held, limits: Limits) -> None:
        self.handed_out = False
        self._objects = objects
        self._vfs = vfs
        self._slot = slot
        self._held = held
        self._limits = limits
        self._notes = dict.fromkeys(Note(path, f"left out: {why}") for path, why in sorted(held.skipped.items()))

    @property
    def path(self) -> Path:
        """Where the files are. From the moment this was asked for, commands may change them."""
        self.handed_out = True
        return self._slot.files

    @property
    def notes(self) -> tuple[Note, ...]:
        """What of the view is not in the directory, and what of the directory was not collected."""
        return tuple(self._notes)

    def collect_changes(self) -> tuple[CollectedChange, ...]:
        """Put what commands made, changed or deleted since the last time into the workspace; ignored files stay."""
        with disk.reporting():
            found = scan.differences(self._objects, self._slot.files, self._slot.git_dir, self._held)
            before = {path: had(self._objects, self._held, path) for path in found.paths}
            gathered = gather(
                self._slot.files, self._held, found, before.get, limits=self._limits, spelling=_spelling(self._slot)
            )
        changes = put_into(self._vfs, gathered, before.get)
        remember(self._held, gathered)
        self._notes |= dict.fromkeys(gathered.notes)
        return tuple(changes)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str | os.PathLike[str]) -> Path:
        return self.path / name


@contextmanager
def materialize(
    objects: Objects,
    vfs: View,
    *,
    root: Path,
    key: str,
    budget: Budget | None = None,
    limits: Limits | None = None,
    keep_ignored: bool = True,
) -> Iterator[MaterializedDirectory]:
    """A directory with the files of `vfs`, pending ones too, until the block ends.

    Directories are kept below `root` by repository and `key`, and used again: then only what differs is written, and
    what commands left is put right. Ignored files, such as build caches, stay unless `keep_ignored` is off.
    """
    with ExitStack() as stack:
        with disk.reporting():
            slot = stack.enter_context(taken(root, objects.common_dir, key))
            held = _filled(objects, Wanted.of(vfs), slot, budget or Budget(), keep_ignored=keep_ignored)
        directory = MaterializedDirectory(objects, vfs, slot, held, limits or Limits())
        try:
            yield directory
        finally:
            # If this fails the directory stays marked as in use, and the next user looks at everything.
            with suppress(OSError, GitFailed):
                _left(objects, slot, held, budget or Budget(), used=directory.handed_out)


def _filled(objects: Objects, wanted: Wanted, slot: Slot, budget: Budget, *, keep_ignored: bool) -> Held:
    held = states.load(slot.state)
    if held is not None and _sound(slot, held):
        try:
            return _brought_up_to_date(objects, wanted, slot, held, keep_ignored=keep_ignored)
        except (Damaged, FileNotFoundError, NotADirectoryError):
            pass  # somebody removed or damaged what is known of the directory: begin again
    budgets.enforce(slot.path.parent, budget, keep=slot)
    _clear(slot)
    states.mark(slot.mark, ())
    slot.files.mkdir(mode=0o755)
    scan.prepare(slot.git_dir, objects)
    held = Held()
    _carry_out(objects, wanted, slot, held, plans.anew(objects, wanted, {}, set(), _spelling(slot)))
    return held


def _sound(slot: Slot, held: Held) -> bool:
    """Whether what belongs to a directory is there; somebody may have tidied up the cache."""
    index = slot.git_dir / held.index
    return slot.files.is_dir() and (slot.git_dir / "HEAD").exists() and _size(index) == held.index_bytes


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else -1


def _clear(slot: Slot) -> None:
    slot.state.unlink(missing_ok=True)
    folder = os.open(slot.path, FOLDER)
    try:
        for name in ("files", "git"):
            sweep.remove(folder, name)
    finally:
        os.close(folder)


def _brought_up_to_date(objects: Objects, wanted: Wanted, slot: Slot, held: Held, *, keep_ignored: bool) -> Held:
    if slot.files.lstat().st_mode & 0o700 != 0o700:
        slot.files.chmod(0o755)
    leftovers = _leftovers(objects, slot, held)
    if not keep_ignored:
        leftovers |= scan.untracked(objects, slot.files, slot.git_dir, held)
    plan = _planned(objects, wanted, slot, held, leftovers)
    states.mark(slot.mark, leftovers | plan.write.keys() | plan.remove)
    _carry_out(objects, wanted, slot, held, plan)
    return held


def _leftovers(objects: Objects, slot: Slot, held: Held) -> set[str]:
    """Paths that may hold something wrong. A directory that was left in order is believed, else looked through."""
    interrupted = states.marked(slot.mark)
    if interrupted is None and held.from_this_boot and scan.unchanged_folders(slot.files, held):
        return held.leftovers
    suspects = set() if held.from_this_boot else set(states.entries(held, slot.git_dir))
    found = scan.differences(objects, slot.files, slot.git_dir, held)
    return held.leftovers | (interrupted or set()) | suspects | found.all


def _planned(objects: Objects, wanted: Wanted, slot: Slot, held: Held, leftovers: set[str]) -> Plan:
    spelling = _spelling(slot)
    if not slot.ignores_case:
        try:
            return plans.update(objects, held, wanted, leftovers, spelling)
        except (RevisionMissing, RepositoryUnreadable):
            pass  # the tree that is there is gone from the repository, or unfolds too far to compare
    return plans.anew(objects, wanted, states.entries(held, slot.git_dir), leftovers, spelling)


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
    now = time.time_ns()
    indexed = states.with_index(held, slot.git_dir, now)
    states.settle(held, now)
    if indexed:
        states.save(slot.state, held)
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


def _left(objects: Objects, slot: Slot, held: Held, budget: Budget, *, used: bool) -> None:
    """Look over what commands left, so that the next user need not. Without its path nobody can have used it."""
    if used:
        held.leftovers = scan.differences(objects, slot.files, slot.git_dir, held).all
        states.with_index(held, slot.git_dir, time.time_ns())
    scan.note_folders(slot.files, held)
    states.save(slot.state, held)
    states.drop_other_indexes(held, slot.git_dir)
    slot.mark.unlink(missing_ok=True)
    if budgets.measured(slot):
        budgets.enforce(slot.path.parent, budget, keep=slot)


def _spelling(slot: Slot) -> Spelling:
    return paths.folded if slot.ignores_case else str
