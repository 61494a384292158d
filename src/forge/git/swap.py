"""One ref moved by compare-and-swap: under its lock, through contention, past the locks that dead processes left."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pygit2

from forge.git import disk, locks
from forge.git.errors import BranchExists, GitFailed, RevisionMissing, StorageFailed
from forge.git.objects import Objects
from forge.git.operations import OperationLog, RefMove, moved
from forge.git.values import CommitId

HEADS = "refs/heads/"
KEPT = "refs/forge/kept/"
_PATIENCE = 3.0
_UNSYNCED = "for fsync"
_STORAGE_WORDS = re.compile(
    "no space left|read-only file system|quota exceeded|input/output error|file too large|permission denied",
    re.IGNORECASE,
)


def direct_target(objects: Objects, ref: str) -> CommitId | None:
    found = objects.handle.references.get(ref)
    return None if found is None else CommitId(str(found.target))


def swap(objects: Objects, log: OperationLog, move: RefMove, reason: str) -> None:
    """Move a direct ref from `before` to `after`, durably, or raise and leave it as it is."""
    if move.after is not None and not objects.has(move.after):
        raise RevisionMissing(f"{move.after} is not in the repository.", hint="A gc may have removed it.")
    message = f"forge: {reason.splitlines()[0] if reason else 'move'}"
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return _set(objects, move, message)
        except (pygit2.GitError, OSError, KeyError, ValueError) as e:
            # libgit2 has no type for a lost race: where the ref stands now tells what happened.
            now = direct_target(objects, move.ref)
            if now == move.after and _UNSYNCED in str(e):
                return _sync_packed(objects.common_dir)
            if now != move.before:
                raise moved(move) from e
            if _STORAGE_WORDS.search(str(e)):
                raise StorageFailed(f"The ref could not be written ({e}).", hint="Free some disk space.") from e
            if move.before is None and (clash := _clash(objects, move.ref)):
                raise _blocked(move.ref, clash) from e
            # Besides locks there are moments: `git pack-refs` removes an empty folder while we put a file there.
            locked = "lock" in str(e)
            if locked and _removed_stale_lock(objects.common_dir, log, move.ref):
                continue
            if time.monotonic() > deadline:
                raise (locks.held(objects.common_dir, move.ref) if locked else _failed(move.ref, e)) from e
            time.sleep(0.005)


def _sync_packed(common_dir: Path) -> None:
    """The ref moved, and before its folder could be synced `git pack-refs` took ref and folder away."""
    with disk.reporting(), suppress(FileNotFoundError):
        fd = os.open(common_dir / "packed-refs", os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        disk.sync_directory(common_dir)


def _set(objects: Objects, move: RefMove, message: str) -> None:
    if move.before is None:
        _create(objects, move, message)
        return
    found = objects.handle.references.get(move.ref)
    if found is None or str(found.target) != move.before:
        raise moved(move)
    if move.after is None:
        found.delete()
    else:
        found.set_target(move.after, message)


def _create(objects: Objects, move: RefMove, message: str) -> None:
    assert move.after is not None
    if clash := _clash(objects, move.ref):
        raise _blocked(move.ref, clash)
    with _locked(objects.handle, move.ref) as transaction:
        # libgit2's own way to create a ref looks for it before it takes the lock, and so overwrites a rival's.
        if direct_target(objects, move.ref) is not None:
            raise moved(move)
        if move.ref.startswith(KEPT):
            _remember(objects.common_dir / "logs" / move.ref, move.after)
        transaction.set_target(move.ref, move.after, message=message)
        transaction.commit()


@contextmanager
def _locked(handle: pygit2.Repository, ref: str) -> Iterator[pygit2.ReferenceTransaction]:
    """The ref's lock, given back whatever happens: `with transaction` keeps it when the commit itself fails."""
    transaction = handle.transaction()
    try:
        transaction.lock_ref(ref)
        yield transaction
    finally:
        transaction.__exit__(BaseException, None, None)


def _remember(log: Path, kept: CommitId) -> None:
    """A reflog for a kept tip. git reads reflogs after refs, so a gc that saw neither the branch nor what keeps it
    (it read one before and the other after we changed them) still sees this."""
    line = f"{'0' * 40} {kept} Forge <forge@localhost> {int(time.time())} +0000\tforge: kept\n"
    with disk.reporting():
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(line)


def _clash(objects: Objects, ref: str) -> str | None:
    """Another ref that git cannot hold beside `ref`: it keeps them as files in folders."""
    common = objects.common_dir
    parts = ref.split("/")
    for length in range(3, len(parts)):
        if direct_target(objects, above := "/".join(parts[:length])) is not None:
            return above
    try:
        packed = (common / "packed-refs").read_bytes()
    except FileNotFoundError:
        packed = b""
    if within := re.search(rb" (%s/\S+)" % re.escape(ref.encode()), packed):
        return within[1].decode("utf-8", "replace")
    loose = (path for path in (common / ref).rglob("*") if path.suffix != ".lock" and path.is_file())
    return next((str(path.relative_to(common)) for path in loose), None)


def _removed_stale_lock(common_dir: Path, log: OperationLog, ref: str) -> bool:
    # One at a time: a lock that looks stale to two may by now be the live one of the first.
    with disk.reporting(), disk.locked(common_dir / "forge" / "stale.lock"):
        places = (common_dir / f"{ref}.lock", common_dir / "packed-refs.lock")
        return any(locks.removed(*places, claim) for claim in log.claims(ref))


def _blocked(ref: str, clash: str) -> BranchExists:
    return BranchExists(
        f"A branch {ref.removeprefix(HEADS)} cannot exist beside {clash.removeprefix(HEADS)}: "
        "git keeps branches as files in folders.",
        hint="Choose a name that is not a folder of another branch.",
    )


def _failed(ref: str, error: Exception) -> GitFailed:
    return GitFailed(f"{ref} could not be moved: {error}", hint="Run `forge doctor`.")
