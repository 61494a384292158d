"""A real directory for commands: filled or brought up to date when taken, looked over when left."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from forge.git.errors import CollectionTimedOut, GitFailed
from forge.git.materialize import scan
from forge.git.materialize.budget import Budget
from forge.git.materialize.collect import CollectedChange, CollectionLimits, Note, gather, put_into, remember
from forge.git.materialize.plan import had
from forge.git.materialize.slots import Slot, taken
from forge.git.materialize.update import filled, left, spelling
from forge.git.materialize.wanted import Wanted
from forge.git.process import disk
from forge.git.workspace.commit_vfs import GitCommitVFS
from forge.git.workspace.work_in_progress import WorkInProgressVFS

if TYPE_CHECKING:
    from forge.git.materialize.manifest import Held
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs

View = GitCommitVFS | WorkInProgressVFS


class MaterializedDirectory(os.PathLike[str]):
    """The files of a view as real ones. Use it like a path: `directory / "setup.py"`, `str(directory)`."""

    def __init__(self, objects: Objects, vfs: View, slot: Slot, held: Held, limits: CollectionLimits) -> None:
        self.handed_out = False
        self.incomplete = ""
        """What could not be collected in time; empty where everything was."""
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

    def collect_changes(self, *, until: float = math.inf) -> tuple[CollectedChange, ...]:
        """Put what commands made, changed or deleted since the last time into the workspace; ignored files stay.

        At the moment `until` of the monotonic clock it stops: then `incomplete` says what is missing.
        """
        try:
            with disk.reporting():
                found = scan.differences(
                    self._objects,
                    self._slot.files,
                    self._slot.git_dir,
                    self._held,
                    until=None if until == math.inf else until,
                )
                before = {path: had(self._objects, self._held, path) for path in found.paths}
                gathered = gather(
                    self._slot.files,
                    self._held,
                    found,
                    before.get,
                    limits=self._limits,
                    spelling=spelling(self._slot),
                    # What was read has to be put into the workspace, which takes as long again.
                    until=(time.monotonic() + until) / 2,
                )
        except CollectionTimedOut as e:
            self.incomplete = e.message
            return ()
        changes = put_into(self._vfs, gathered, before.get, until=until)
        remember(self._held, gathered)
        self._notes |= dict.fromkeys(gathered.notes)
        if gathered.late:
            files = "changed file was" if gathered.late == 1 else "changed files were"
            self.incomplete = f"{gathered.late:,} {files} not collected: the time was over."
        return tuple(changes)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str | os.PathLike[str]) -> Path:
        return self.path / name


@contextmanager
def held_directory(
    refs: Refs,
    view: View,
    *,
    root: Path | None = None,
    budget: Budget | None = None,
    keep_ignored: bool = True,
) -> Iterator[MaterializedDirectory]:
    """A directory with the files of `view`. Commands take long: what they work on is held meanwhile."""
    commit = view.base
    with (
        refs.held.during([commit] if commit else (), reading=True),
        materialize(
            view.objects,
            view,
            root=root or user_cache_path("forge", appauthor=False) / "directories",
            key=view.branch if isinstance(view, WorkInProgressVFS) else "@commit",
            budget=budget,
            keep_ignored=keep_ignored,
        ) as directory,
    ):
        yield directory


@contextmanager
def materialize(
    objects: Objects,
    vfs: View,
    *,
    root: Path,
    key: str,
    budget: Budget | None = None,
    limits: CollectionLimits | None = None,
    keep_ignored: bool = True,
) -> Iterator[MaterializedDirectory]:
    """A directory with the files of `vfs`, pending ones too, until the block ends.

    Directories are kept below `root` by repository and `key`, and used again: then only what differs is written, and
    what commands left is put right. Ignored files, such as build caches, stay unless `keep_ignored` is off.
    """
    with ExitStack() as stack:
        with disk.reporting():
            slot = stack.enter_context(taken(root, objects.common_dir, key))
            held = filled(objects, _wanted(vfs), slot, budget or Budget(), keep_ignored=keep_ignored)
        directory = MaterializedDirectory(objects, vfs, slot, held, limits or CollectionLimits())
        try:
            yield directory
        finally:
            # If this fails or is not worth the time, the directory stays marked as in use, and the next user looks at
            # everything.
            with suppress(OSError, GitFailed):
                if not directory.incomplete:
                    left(objects, slot, held, budget or Budget(), used=directory.handed_out)


def _wanted(vfs: View) -> Wanted:
    if isinstance(vfs, WorkInProgressVFS):
        return Wanted(vfs.base_tree, dict(vfs.pending))
    return Wanted(vfs.tree)
