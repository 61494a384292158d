"""Objects in use are held by refs below `refs/forge/held/`, so that no one's gc takes them.

A hold is no branch and no operation: it points at a commit that is there already, nobody works on it, and the operation
log does not tell of it. There are four kinds:

- `process-…` holds for as long as a block of this process runs. A power cut may take it with its process, but never
  leaves it torn: git would stumble over that.
- `turn-<mark>-…` holds what a turn depends on. Synced, and found again by whichever process resumes the turn.
- `project-<id>-…` holds what a project builds on, between its turns too: the baseline (0) and the last tip (1).
- `preview-<time>-…` holds commits that a person was shown, until that time.

Whoever saves, serves or works sweeps those whose process died, whose turn no longer reserves a branch, whose time is
over, or whose project has ended. Only whoever knows the projects can tell the last.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.process import disk, liveness
from forge.git.refs import locks, packed_refs
from forge.git.refs.ref_files import RefLock, direct_target, sync_folder
from forge.git.refs.reservations import reservations

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import CommitId

HELD = "refs/forge/held/"
TURN, PROJECT = "turn-", "project-"
_PROCESS, _PREVIEW = "process-", "preview-"
_ATTEMPTS = 100
_MOST_OF_ONE = 3
_SHOWN = 3600
"""Seconds for which a preview is held at least; at most twice as long."""

OverProject = Callable[[str], bool]
"""Whether the project with this id needs its holds no more."""

_lock = threading.Lock()
_ours: set[tuple[Path, str]] = set()
"""Holds of blocks of this process that have not ended, by repository."""


class Held:
    """What is held in one repository."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._proven: dict[str, CommitId] = {}

    @contextmanager
    def during(self, commits: Iterable[CommitId], *, reading: bool = False) -> Iterator[None]:
        """Hold `commits` until the block ends. A block that is `reading` needs no disk that can be written: what it
        writes later proves what it builds on by itself.
        """
        common = self._objects.common_dir
        made = {
            f"{HELD}{_PROCESS}{liveness.token()}-{os.urandom(6).hex()}": commit for commit in dict.fromkeys(commits)
        }
        with _lock:
            _ours.update((common, ref) for ref in made)
        try:
            try:
                for ref, commit in made.items():
                    _put(self._objects, ref, commit)
            except OSError as e:
                if not (reading and disk.is_known(e)):
                    raise disk.storage_failed(e) from e
            yield
        finally:
            for ref in made:
                # If git has packed it meanwhile, or the disk failed, the next sweep finds it.
                with suppress(OSError):
                    os.unlink(common / ref)
            with _lock:
                _ours.difference_update((common, ref) for ref in made)

    def keep(self, owner: str, commits: Iterable[CommitId]) -> list[CommitId]:
        """Hold exactly `commits` durably until `let_go`. Gives those that were not held by this owner before."""
        fresh: list[CommitId] = []
        wanted = tuple(dict.fromkeys(commits))
        for ref, commit in zip(_refs(owner), wanted, strict=False):
            if direct_target(self._objects, ref) == commit:
                self._proven[ref] = commit
                continue
            fresh.append(commit)
            with disk.reporting(), RefLock(self._objects.common_dir, ref, commit) as lock:
                lock.sync()
                lock.replace_ref()
            sync_folder(self._objects.common_dir, ref)
        self._remove_all(ref for ref, _ in self._of(owner) if ref not in _refs(owner)[: len(wanted)])
        return fresh

    def prove(self, owner: str, commits: Collection[CommitId]) -> None:
        """Everything that these commits of an owner need was there when they were held."""
        for ref, commit in self._of(owner):
            if commit in commits:
                self._proven[ref] = commit

    def holds(self, commit: CommitId) -> bool:
        """Whether all that `commit` needs has been held since it was known to be there."""
        known = [ref for ref, held in self._proven.items() if held == commit]
        return any(direct_target(self._objects, ref) == commit for ref in known)

    def commits(self, owner: str) -> list[CommitId]:
        """What this owner holds, in the order in which it was given."""
        return [commit for _, commit in self._of(owner)]

    def let_go(self, owner: str) -> None:
        self._remove_all(ref for ref, _ in self._of(owner))

    def _remove_all(self, refs: Iterable[str]) -> None:
        for ref in refs:
            self._proven.pop(ref, None)
            with disk.reporting():
                _remove(self._objects, ref)

    def shown(self, commit: CommitId) -> None:
        """Hold for a while what a person looks at and may confirm. A disk that cannot be written holds nothing."""
        until = (int(time.time()) // _SHOWN + 2) * _SHOWN
        ref = f"{HELD}{_PREVIEW}{until}-{commit}"
        if direct_target(self._objects, ref) is None:
            try:
                _put(self._objects, ref, commit)
            except OSError as e:
                if not disk.is_known(e):
                    raise disk.storage_failed(e) from e

    def _of(self, owner: str) -> list[tuple[str, CommitId]]:
        return [(ref, at) for ref in _refs(owner) if (at := direct_target(self._objects, ref)) is not None]


def _refs(owner: str) -> list[str]:
    """`owner` is the mark of a turn, or the name of a project's holds."""
    name = owner if owner.startswith(PROJECT) else f"{TURN}{owner}"
    return [f"{HELD}{name}-{number}" for number in range(_MOST_OF_ONE)]


def sweep(objects: Objects, *, pretend: bool = False, over_project: OverProject = lambda _: False) -> tuple[str, ...]:
    """Remove what is held for nobody any more; gives what was found."""
    names = _names(objects.common_dir)
    if not names:
        return ()
    at_work = {each.holder for each in reservations(objects.common_dir)}
    over = tuple(name for name in names if _is_over(objects.common_dir, name, at_work, over_project))
    if not pretend:
        for name in over:
            with suppress(OSError):
                _remove(objects, HELD + name)
    return over


def _is_over(common_dir: Path, name: str, at_work: Collection[str], over_project: OverProject) -> bool:
    owner = name.rpartition("-")[0]
    if owner.startswith(TURN):
        return owner.removeprefix(TURN) not in at_work
    if owner.startswith(PROJECT):
        return over_project(owner.removeprefix(PROJECT))
    if owner.startswith(_PREVIEW):
        until = owner.removeprefix(_PREVIEW)
        return not until.isdigit() or int(until) < time.time()
    if not owner.startswith(_PROCESS):
        return False
    token = owner.removeprefix(_PROCESS)
    if token == liveness.token():
        with _lock:
            return (common_dir, HELD + name) not in _ours
    return liveness.token_died(token, age=_age(common_dir, name))


def _age(common_dir: Path, name: str) -> float:
    for file in (common_dir / HELD / name, common_dir / "packed-refs"):
        with suppress(OSError):
            return time.time() - file.stat().st_mtime
    return 0.0


def _names(common_dir: Path) -> list[str]:
    """Loose and packed; `git gc` packs them like all refs."""
    found: set[str] = set()
    with suppress(OSError):
        found.update(name for name in os.listdir(common_dir / HELD) if not name.endswith(".lock"))
    packed = packed_refs.contents(common_dir)
    at = packed.find(f" {HELD}".encode())
    while at >= 0:
        end = packed.find(b"\n", at)
        found.add(packed[at + 1 + len(HELD) : end].decode("utf-8", "replace"))
        at = packed.find(f" {HELD}".encode(), end)
    return sorted(found)


def _put(objects: Objects, ref: str, commit: CommitId) -> None:
    """Nobody else uses this name, so it needs no lock, and nothing has to be found again after a crash."""
    objects.scratch.mkdir(parents=True, exist_ok=True)
    beside, place = objects.scratch / ref.rpartition("/")[2], objects.common_dir / ref
    try:
        disk.write_synced(str(beside), f"{commit}\n".encode())
        _rename_into_place(beside, place)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _rename_into_place(beside: Path, place: Path) -> None:
    """git removes empty folders of refs, also in the moment after one was made, or while one is being made."""
    for attempt in range(_ATTEMPTS):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(beside, place)
        except (FileNotFoundError, FileExistsError):
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(random.uniform(0, 0.001))  # noqa: S311 - so that two do not meet again and again
        else:
            return


def _remove(objects: Objects, ref: str) -> None:
    """A hold is never changed by two. Only git packs it, and may have packed an older value than the loose one."""
    common = objects.common_dir
    with suppress(FileNotFoundError):
        os.unlink(common / ref)
    if f" {ref}\n".encode() in packed_refs.contents(common):
        locks.packed_removed(common)
        with packed_refs.locked(common, objects.scratch):
            packed_refs.remove(common, ref)
