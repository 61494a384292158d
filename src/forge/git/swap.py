"""One ref moved by compare-and-swap: under its lock, through contention, past the locks that dead processes left."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import pygit2

from forge.git import disk, locks, packed_refs
from forge.git.errors import BranchExists, GitFailed, RepositoryUnreadable, RevisionMissing
from forge.git.objects import Objects
from forge.git.operations import OperationLog, RefMove, moved
from forge.git.values import CommitId

HEADS = "refs/heads/"
KEPT = "refs/forge/kept/"
_PATIENCE = 3.0
_UNSYNCED = "for fsync"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def direct_target(objects: Objects, ref: str) -> CommitId | None:
    try:
        found = objects.handle.references.get(ref)
    except (pygit2.GitError, ValueError) as e:
        raise RepositoryUnreadable(f"{ref} cannot be read: {e}", hint="Set it anew with `git update-ref`.") from e
    return None if found is None else CommitId(str(found.target))


class Locks(ExitStack):
    """Held for a whole operation: what its last move needs is taken before its first, or else nothing happens."""

    def __init__(self, objects: Objects) -> None:
        super().__init__()
        self._objects = objects
        self._packed = False
        self._refs: dict[str, ExitStack] = {}

    def take_packed(self) -> None:
        if not self._packed:
            self.enter_context(packed_refs.locked(self._objects.common_dir))
            self._packed = True

    def take_for_removal(self, ref: str) -> None:
        self.take_packed()
        if ref not in self._refs:
            own = ExitStack()
            own.enter_context(_locked(self._objects.handle, ref))
            self._refs[ref] = self.enter_context(own)

    def give_back(self, ref: str) -> None:
        self._refs.pop(ref).close()


def reserve(objects: Objects, log: OperationLog, moves: Iterable[RefMove], held: Locks) -> None:
    """Take the locks that removing refs will need."""
    for move in moves:
        if move.after is None:
            _patiently(objects, log, move, partial(held.take_for_removal, move.ref))


def swap(objects: Objects, log: OperationLog, move: RefMove, reason: str, held: Locks) -> None:
    """Move a direct ref from `before` to `after`, durably, or raise and leave it as it is."""
    _patiently(objects, log, move, partial(_set, objects, move, f"forge: {_one_line(reason)}", held))


def _patiently(objects: Objects, log: OperationLog, move: RefMove, attempt: Callable[[], None]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return attempt()
        except (pygit2.GitError, OSError, KeyError, ValueError) as e:
            # libgit2 has no type for a lost race: where the ref stands now tells what happened.
            now = direct_target(objects, move.ref)
            if now == move.after and _UNSYNCED in str(e):
                return _sync_packed(objects.common_dir)
            if now != move.before:
                raise moved(move) from e
            if (failure := disk.told_by(str(e))) is not None:
                raise failure from e
            if move.after is not None and not objects.has(move.after):
                raise _missing(move.after) from e
            if move.before is None and (clash := _clash(objects, move.ref)):
                raise _blocked(move.ref, clash) from e
            # Besides locks there are moments: `git pack-refs` removes an empty folder while we put a file there.
            locked = "lock" in str(e)
            if locked and locks.removed(objects.common_dir, move.ref, log.claims(move.ref)):
                continue
            if time.monotonic() > deadline:
                raise (locks.held(objects.common_dir, move.ref) if locked else _failed(move.ref, e)) from e
            time.sleep(0.005)


def _one_line(reason: str) -> str:
    """What a reflog can hold of it: a line of plain text, that no reason can turn into two."""
    first = next(iter(reason.splitlines()), "")
    return _CONTROL.sub(" ", first.encode("utf-8", "replace").decode()).strip() or "move"


def _sync_packed(common_dir: Path) -> None:
    """The ref moved, and before its folder could be synced `git pack-refs` took ref and folder away."""
    with disk.reporting(), suppress(FileNotFoundError):
        disk.sync_file(common_dir / "packed-refs")
        disk.sync_directory(common_dir)


def _set(objects: Objects, move: RefMove, message: str, held: Locks) -> None:
    if move.before is None:
        _create(objects, move, message, held)
        return
    if move.after is None:
        _delete(objects, move, held)
        return
    found = objects.handle.references.get(move.ref)
    if found is None or str(found.target) != move.before:
        raise moved(move)
    found.set_target(move.after, message)


def _create(objects: Objects, move: RefMove, message: str, held: Locks) -> None:
    assert move.after is not None
    if clash := _clash(objects, move.ref):
        raise _blocked(move.ref, clash)
    if not objects.has(move.after):  # for what exists already libgit2 looks itself
        raise _missing(move.after)
    with _locked(objects.handle, move.ref) as transaction:
        # libgit2's own way to create a ref looks for it before it takes the lock, and so overwrites a rival's.
        if direct_target(objects, move.ref) is not None:
            raise moved(move)
        if move.ref.startswith(KEPT):
            _remember(objects.common_dir / "logs" / move.ref, move.after)
        with _packed_too(objects, move, held):
            transaction.set_target(move.ref, move.after, message=message)
            transaction.commit()


@contextmanager
def _packed_too(objects: Objects, move: RefMove, held: Locks) -> Iterator[None]:
    """A branch that comes back to where it was deleted is put among the packed refs as well.

    A `git pack-refs` that had packed it before the deletion removes the loose ref when it finds it with that
    value again, trusting that the packed one is there.
    """
    kept = f"{KEPT}{move.ref.removeprefix(HEADS)}@{str(move.after)[:12]}"
    if not move.ref.startswith(HEADS) or direct_target(objects, kept) is None:
        yield
        return
    held.take_packed()
    packed_refs.put(objects.common_dir, move.ref, str(move.after))
    try:
        yield
    except (pygit2.GitError, OSError):
        with suppress(OSError):
            packed_refs.remove(objects.common_dir, move.ref)
        raise


def _delete(objects: Objects, move: RefMove, held: Locks) -> None:
    common = objects.common_dir
    held.take_for_removal(move.ref)
    loose, log = common / move.ref, common / "logs" / move.ref
    try:
        if direct_target(objects, move.ref) != move.before:
            raise moved(move)
        # Packed first: otherwise an older packed value would show for a moment.
        packed_refs.remove(common, move.ref)
        loose.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        if loose.parent.exists():
            disk.sync_directory(loose.parent)
    finally:
        held.give_back(move.ref)
    with suppress(OSError):  # a folder with another branch in it stays
        for folder in (*list(loose.parents)[: move.ref.count("/") - 2], *list(log.parents)[: move.ref.count("/") - 2]):
            folder.rmdir()


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
    if within := re.search(rb" (%s/\S+)" % re.escape(ref.encode()), packed_refs.contents(common)):
        return within[1].decode("utf-8", "replace")
    loose = (path for path in (common / ref).rglob("*") if path.suffix != ".lock" and path.is_file())
    return next((str(path.relative_to(common)) for path in loose), None)


def _blocked(ref: str, clash: str) -> BranchExists:
    return BranchExists(
        f"A branch {ref.removeprefix(HEADS)} cannot exist beside {clash.removeprefix(HEADS)}: "
        "git keeps branches as files in folders.",
        hint="Choose a name that is not a folder of another branch.",
    )


def _missing(commit: CommitId) -> RevisionMissing:
    return RevisionMissing(f"{commit} is not in the repository.", hint="A gc may have removed it.")


def _failed(ref: str, error: Exception) -> GitFailed:
    return GitFailed(f"{ref} could not be moved: {error}", hint="Run `forge doctor`.")
