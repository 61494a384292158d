"""The person's checkouts, brought along when Forge moves the branch they show.

Files follow where the person has no changes, the index wherever it has what the old commit has: the person's next
commit must not take back what was saved. HEAD, stash and submodules are never touched.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forge.errors import ForgeError
from forge.git.checkout.checkout_update import CheckoutState, CheckoutUpdate, OwnChange, OwnKind, PartialUpdate
from forge.git.checkout.index_copy import sparse_patterns
from forge.git.checkout.partial_update import blocker, bring_along, is_folder, take_back
from forge.git.checkout.read_tree import busy, read_index, read_tree
from forge.git.checkout.worktrees import Worktree, branches_checked_out, worktrees_on
from forge.git.errors import CheckoutInTheWay, GitFailed, StorageFailed
from forge.git.objects import trees
from forge.git.objects.tree_diff import ChangedEntry, changed_entries
from forge.git.process.git_command import Git
from forge.git.values import EMPTY_TREE, CommitId, Entry, ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

__all__ = [
    "CheckoutState",
    "CheckoutUpdate",
    "OwnChange",
    "OwnKind",
    "Worktree",
    "branches_checked_out",
    "bring_up_to_date",
    "step_back",
    "worktrees_on",
]

# Paths in one command line; systems allow about a megabyte.
_ARGUMENTS = 400
_SPARE_BYTES = 64 << 10
_SPARE_FILES = 16
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


Refusal = tuple[str, tuple[str, ...]]
"""Why nothing was touched, and the files it is about; an empty reason when all went well."""

_NONE: Refusal = ("", ())
_OWN_CHANGES = "these files have changes of their own there"


def bring_up_to_date(
    objects: Objects,
    worktree: Worktree,
    old: CommitId | None,
    new: CommitId,
    *,
    left_over: Sequence[CommitId] = (),
    placed: bool = False,
) -> CheckoutUpdate:
    """Make files and index show `new` instead of `old`. Call it before the branch moves: a crash in between leaves the
    new content staged, never a silent revert of it.

    Where the person has changes, only what is not theirs follows. `left_over` are commits that such a crash may have
    left staged. `placed`: the caller has put the files there, so the index follows as a whole or is left to the caller.
    """
    before, after = _tree(objects, old), _tree(objects, new)
    changes = tuple(changed_entries(objects, before, after))
    if not changes:
        return CheckoutUpdate(worktree.path, CheckoutState.UPDATED, old, new)
    if placed:
        known = old is None or (worktree.git_dir / "index").exists()
        reason = _index_followed(worktree, before, after) if known else "nothing has been checked out there yet"
        state = CheckoutState.LEFT_ALONE if reason else CheckoutState.UPDATED
        return CheckoutUpdate(worktree.path, state, old, new, reason, placed=True)
    index: bytes | None = None
    has_room = True
    alike = tuple(path for path, _, new in changes if not new and not os.path.lexists(worktree.path / path))
    try:
        index = _index(worktree)
        if index is None and old is not None:
            reason = "nothing has been checked out there yet"
            return CheckoutUpdate(worktree.path, CheckoutState.LEFT_ALONE, old, new, reason)
        reason, paths = _obstacle(worktree, changes)
        if not reason and sparse_patterns(worktree).exists():
            reason = _OWN_CHANGES
        has_room = _has_room(objects, worktree, changes, index or b"")
        if not reason and not has_room:
            reason = "its disk is full"
        if not reason:
            reason, paths = _followed(objects, worktree, before, after, changes)
    except GitFailed as e:
        reason, paths = e.message, ()
    except OSError as e:
        reason, paths = f"it could not be read: {e}", ()
    if reason:
        trees_left = [_tree(objects, commit) for commit in left_over]
        done = _partly(objects, worktree, (before, after), changes, left_over=trees_left, has_room=has_room)
        state = CheckoutState.PARTLY if done.own else CheckoutState.UPDATED
        paths = tuple(each.path for each in done.own)
        why = reason if done.own else ""
        return CheckoutUpdate(worktree.path, state, old, new, why, paths, own=done.own, partial=done)
    return CheckoutUpdate(
        worktree.path, CheckoutState.UPDATED, old, new, removed_alike=alike, index_before=index or b""
    )


def _index_followed(worktree: Worktree, old: ObjectId, new: ObjectId) -> str:
    """Carry the index alone from one tree to the other, or say why not."""
    try:
        return busy(worktree) or read_index(worktree, old, new)
    except GitFailed as e:
        return e.message
    except OSError as e:
        return f"it could not be read: {e}"


def _partly(
    objects: Objects,
    worktree: Worktree,
    between: tuple[ObjectId, ObjectId],
    changes: Sequence[ChangedEntry],
    *,
    left_over: Sequence[ObjectId],
    has_room: bool,
) -> PartialUpdate:
    try:
        return bring_along(objects, worktree, *between, changes, left_over=left_over, has_room=has_room)
    except (GitFailed, OSError) as e:
        said = e.message if isinstance(e, GitFailed) else str(e)
        if not has_room:
            raise StorageFailed(
                f"The disk of your checkout {worktree.path} is full, so its index cannot follow the branch. "
                "Nothing was changed.",
                hint="Free some space and try again.",
            ) from e
        raise CheckoutInTheWay(
            f"The index of your checkout {worktree.path} cannot be brought up to date, and the next commit there would "
            f"take this change back: {said}",
            hint="Repair that checkout (`git status` there says more), or switch it to another branch.",
        ) from e


def step_back(objects: Objects, worktree: Worktree, update: CheckoutUpdate) -> CheckoutUpdate:
    """Undo an update whose branch did not move after all. Left alone: the new content stays, as staged changes."""
    before, after = _tree(objects, update.old), _tree(objects, update.new)
    changes = tuple(changed_entries(objects, before, after))
    if update.state is CheckoutState.LEFT_ALONE or not changes:
        return update
    if update.placed:
        reason = _index_followed(worktree, after, before)
        state = CheckoutState.LEFT_ALONE if reason else CheckoutState.UPDATED
        return replace(update, state=state, reason=reason)
    if update.partial:
        return _partly_back(objects, worktree, before, update, update.partial)
    try:
        alike = update.removed_alike or _staged_alike(objects, worktree, update.index_before, changes)
        if alike:
            reason, paths = "the same change had been made there already", alike
        else:
            back = [(path, new, old) for path, old, new in changes]
            reason, paths = _obstacle(worktree, back)
            if not reason:
                reason, paths = _followed(objects, worktree, after, before, back)
    except GitFailed as e:
        reason, paths = e.message, ()
    except OSError as e:
        reason, paths = f"it could not be read: {e}", ()
    state = CheckoutState.LEFT_ALONE if reason else CheckoutState.UPDATED
    return CheckoutUpdate(worktree.path, state, update.old, update.new, reason, paths)


def _partly_back(
    objects: Objects, worktree: Worktree, before: ObjectId, update: CheckoutUpdate, done: PartialUpdate
) -> CheckoutUpdate:
    reason = ""
    try:
        if not take_back(objects, worktree, before, done):
            reason = "its index has changed since"
    except ForgeError as e:
        reason = e.message
    except OSError as e:
        reason = f"it could not be read: {e}"
    state = CheckoutState.LEFT_ALONE if reason else CheckoutState.UPDATED
    return CheckoutUpdate(worktree.path, state, update.old, update.new, reason, own=update.own)


def _tree(objects: Objects, commit: CommitId | None) -> ObjectId:
    return objects.commit(commit).tree if commit else EMPTY_TREE


def _index(worktree: Worktree) -> bytes | None:
    try:
        return (worktree.git_dir / "index").read_bytes()
    except FileNotFoundError:
        return None


def _obstacle(worktree: Worktree, changes: Sequence[ChangedEntry]) -> Refusal:
    """What git itself would not see, or would walk over."""
    if doing := busy(worktree):
        return doing, ()
    deleted = _deleted(worktree, [path for path, old, new in changes if old and new])
    if deleted:
        return _OWN_CHANGES, deleted
    in_the_way = _in_the_way(worktree, changes)
    return ("files of your own are in the way", in_the_way) if in_the_way else _NONE


def _has_room(objects: Objects, worktree: Worktree, changes: Sequence[ChangedEntry], index: bytes) -> bool:
    """git writes file after file; on a disk that fills up meanwhile it would stop in the middle."""
    files = [new for _, _, new in changes if new and not new.is_submodule]
    sizes = [objects.handle.odb.read_header(entry.id)[1] for entry in files]
    disk = os.statvfs(worktree.path)
    needed = sum(sizes) + len(sizes) * disk.f_frsize + 2 * len(index) + _SPARE_BYTES
    # Some file systems do not count files; they give no number of them at all.
    return disk.f_bavail * disk.f_frsize > needed and (not disk.f_files or disk.f_favail > len(files) + _SPARE_FILES)


def _deleted(worktree: Worktree, kept: Sequence[str]) -> tuple[str, ...]:
    """Files that the person has removed, though not yet from the index. `git read-tree -u` would bring them back."""
    missing = [path for path in kept if not os.path.lexists(worktree.path / path)]
    if not missing:
        return ()
    # What a sparse checkout leaves out is marked in the index; nobody removed it.
    return tuple(sorted(path[2:] for path in _listed(worktree, "-t", missing) if path.startswith("H ")))


def _in_the_way(worktree: Worktree, changes: Sequence[ChangedEntry]) -> tuple[str, ...]:
    """Files of the person where new ones should be. `git read-tree -u` overwrites ignored ones, and staged changes
    where a folder becomes a file.
    """
    added = {path for path, old, new in changes if new and not old}
    blockers = {found for path in added if (found := blocker(worktree.path, path))}
    if not blockers:
        return ()
    folders = {path for path in blockers if is_folder(worktree.path / path)}
    staged = _staged(worktree, blockers)
    before = {path: old for path, old, _ in changes}
    own = {path for path, entry in staged.items() if path not in added and before.get(path) != entry}
    untracked = _listed(worktree, "--others", folders) if folders else set()
    return tuple(sorted(own | untracked | (blockers - folders - staged.keys())))


def _listed(worktree: Worktree, which: str, paths: Iterable[str], *, index: Path | None = None) -> set[str]:
    """Lines of `git ls-files` about what is at or below `paths`."""
    env = _LITERAL | ({"GIT_INDEX_FILE": str(index)} if index else {})
    git, asked, lines = Git(worktree.git_dir), sorted(paths), b""
    for at in range(0, len(asked), _ARGUMENTS):
        command = ("ls-files", "-z", which, "--", *asked[at : at + _ARGUMENTS])
        lines += git.run(*command, env=env, work_tree=worktree.path).stdout
    return {trees.decode(line).rstrip("/") for line in lines.split(b"\0") if line}


def _staged(worktree: Worktree, paths: Iterable[str], *, index: Path | None = None) -> dict[str, Entry]:
    """What the index has at or below `paths`; of a file in conflict, one side."""
    found: dict[str, Entry] = {}
    for line in _listed(worktree, "--stage", paths, index=index):
        facts, _, path = line.partition("\t")
        mode, oid, _ = facts.split(" ")
        found[path] = Entry(int(mode, 8), ObjectId(oid))
    return found


def _followed(
    objects: Objects, worktree: Worktree, old: ObjectId, new: ObjectId, changes: Sequence[ChangedEntry]
) -> Refusal:
    """Let git carry files and index from one tree to the other, or say why it refused."""
    complaint = read_tree(worktree, old, new)
    if complaint and _stale_only(objects, worktree, old, new):
        Git(worktree.git_dir).run("update-index", "-q", "--refresh", ok=(0, 1), work_tree=worktree.path)
        complaint = read_tree(worktree, old, new)
    if not complaint:
        return _NONE
    paths = _overlapping(worktree, changes)
    return (_OWN_CHANGES, paths) if paths else (complaint, ())


def _stale_only(objects: Objects, worktree: Worktree, old: ObjectId, new: ObjectId) -> bool:
    """Whether git refused only because the index has not noticed that touched files are unchanged.

    Tried on a copy, so that a refusal leaves the person's index byte for byte as it is.
    """
    with _copied(objects, _index(worktree) or b"") as copy:
        env = {"GIT_INDEX_FILE": str(copy)}
        Git(worktree.git_dir).run("update-index", "-q", "--refresh", ok=(0, 1, 128), env=env, work_tree=worktree.path)
        return not read_tree(worktree, old, new, "--dry-run", index=copy)


@contextmanager
def _copied(objects: Objects, index: bytes) -> Iterator[Path]:
    objects.scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=objects.scratch, prefix="index-") as folder:
        copy = Path(folder) / "index"
        if index:
            copy.write_bytes(index)
        yield copy


def _overlapping(worktree: Worktree, changes: Sequence[ChangedEntry]) -> tuple[str, ...]:
    """The person's own changes at, above or below the paths that should have changed."""
    status = ("status", "-z", "--porcelain", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
    lines = Git(worktree.git_dir).run(*status, work_tree=worktree.path).stdout.split(b"\0")
    own = {trees.decode(line[3:]).rstrip("/") for line in lines if line}
    paths = {path for path, _, _ in changes}
    above = {folder for path in paths for folder in _above(path)}
    return tuple(sorted(path for path in own if path in paths | above or any(f in paths for f in _above(path))))


def _above(path: str) -> list[str]:
    return [path[:at] for at, letter in enumerate(path) if letter == "/"]


def _staged_alike(
    objects: Objects, worktree: Worktree, index: bytes, changes: Sequence[ChangedEntry]
) -> tuple[str, ...]:
    """Paths that the person had staged exactly as the update has them: going back would undo the person's work."""
    with _copied(objects, index) as copy:
        staged = _staged(worktree, [path for path, _, _ in changes], index=copy)
    return tuple(path for path, _, new in changes if staged.get(path) == new)
