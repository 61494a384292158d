"""One ref moved by compare-and-swap: under its lock, through contention, past the locks that dead processes left."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from forge.git.errors import BranchExists, GitFailed, RevisionMissing
from forge.git.process import disk
from forge.git.refs import locks, packed_refs
from forge.git.refs.operations.operation import RefMove, moved
from forge.git.refs.ref_files import HEADS, KEPT, RefLock, direct_target, log_move, sync_folder

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.operations.log import OperationLog

_PATIENCE = 3.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


Still = Callable[[], bool]


class Unproven(Exception):
    """The ref that led to the new tip went away in the moment of the move; to be tried again, without trusting it."""


def _yes() -> bool:
    return True


class Locks(ExitStack):
    """Held for a whole operation: what its last move needs is taken before its first, or else nothing happens."""

    def __init__(self, objects: Objects) -> None:
        super().__init__()
        self._objects = objects
        self._packed = False
        self._refs: dict[str, ExitStack] = {}

    def take_packed(self) -> None:
        if not self._packed:
            self.enter_context(packed_refs.locked(self._objects.common_dir, self._objects.scratch))
            self._packed = True

    def take_for_removal(self, ref: str) -> None:
        self.take_packed()
        if ref not in self._refs:
            own = ExitStack()
            own.enter_context(RefLock(self._objects.common_dir, ref))
            self._refs[ref] = self.enter_context(own)

    def give_back(self, ref: str) -> None:
        self._refs.pop(ref).close()


def reserve(objects: Objects, log: OperationLog, moves: Iterable[RefMove], held: Locks) -> None:
    """Take the locks that removing refs will need."""
    for move in moves:
        if move.after is None:
            _patiently(objects, log, move, partial(held.take_for_removal, move.ref))


def swap(
    objects: Objects,
    log: OperationLog,
    move: RefMove,
    reason: str,
    held: Locks,
    *,
    written: Container[str] = (),
    still: Still = _yes,
) -> None:
    """Move a direct ref from `before` to `after`, or raise and leave it as it is. `written` is known to be there.

    `still` is asked last: whether what was found out about `after` still holds. If not, `Unproven` is raised.
    """
    if not still():
        raise Unproven(move.after)
    if move.after is not None and move.after not in written and not objects.has(move.after):
        raise RevisionMissing(f"{move.after} is not in the repository.", hint="A gc may have removed it.")
    _patiently(objects, log, move, partial(_set, objects, move, f"forge: {_one_line(reason)}", held, still))


def make_durable(objects: Objects, move: RefMove) -> None:
    """To be called when a swap was made; before, others see the move and a power cut may take it back."""
    if move.after is not None:  # what was removed is so durably
        sync_folder(objects.common_dir, move.ref)


def _patiently(objects: Objects, log: OperationLog, move: RefMove, attempt: Callable[[], None]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return attempt()
        except OSError as e:
            if direct_target(objects, move.ref) != move.before:
                raise moved(move) from e
            if disk.is_known(e):
                raise disk.storage_failed(e) from e
            if move.before is None and (clash := _clash(objects, move.ref)):
                raise _blocked(move.ref, clash) from e
            # Besides locks there are moments: `git pack-refs` removes an empty folder while we put a file there.
            locked = isinstance(e, FileExistsError)
            if locked and locks.removed(objects.common_dir, move.ref, log.claims(move.ref)):
                continue
            if time.monotonic() > deadline:
                raise (locks.held(objects.common_dir, move.ref) if locked else _failed(move.ref, e)) from e
            time.sleep(0.005)


def _one_line(reason: str) -> str:
    """What a reflog can hold of it: a line of plain text, that no reason can turn into two."""
    first = next(iter(reason.splitlines()), "")
    return _CONTROL.sub(" ", first.encode("utf-8", "replace").decode()).strip() or "move"


def _set(objects: Objects, move: RefMove, message: str, held: Locks, still: Still) -> None:
    if move.after is None:
        _delete(objects, move, held)
        return
    if move.before is None and (clash := _clash(objects, move.ref)):
        raise _blocked(move.ref, clash)
    with RefLock(objects.common_dir, move.ref, move.after) as lock:
        if direct_target(objects, move.ref) != move.before:
            raise moved(move)
        lock.sync()
        if not still():
            raise Unproven(move.after)
        with _packed_too(objects, move, held):
            log_move(objects, move.ref, move.before, move.after, message)
            lock.replace_ref()


@contextmanager
def _packed_too(objects: Objects, move: RefMove, held: Locks) -> Iterator[None]:
    """A branch that comes back to where it was deleted is put among the packed refs as well.

    A `git pack-refs` that had packed it before the deletion removes the loose ref when it finds it with that
    value again, trusting that the packed one is there.
    """
    kept = f"{KEPT}{move.ref.removeprefix(HEADS)}@{str(move.after)[:12]}"
    if move.before is not None or not move.ref.startswith(HEADS) or direct_target(objects, kept) is None:
        yield
        return
    held.take_packed()
    packed_refs.put(objects.common_dir, move.ref, str(move.after))
    try:
        yield
    except OSError:
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


def _clash(objects: Objects, ref: str) -> str | None:
    """Another ref that git cannot hold beside `ref`: it keeps them as files in folders."""
    common = objects.common_dir
    parts = ref.split("/")
    for length in range(3, len(parts)):
        if direct_target(objects, above := "/".join(parts[:length])) is not None:
            return above
    packed = packed_refs.contents(common)
    if (at := packed.find(b" %s/" % ref.encode())) >= 0:
        return packed[at + 1 :].split(b"\n", 1)[0].decode("utf-8", "replace")
    for folder, _, names in os.walk(common / ref):
        for name in names:
            if not name.endswith(".lock"):
                return os.path.relpath(f"{folder}/{name}", common)
    return None


def _blocked(ref: str, clash: str) -> BranchExists:
    return BranchExists(
        f"A branch {ref.removeprefix(HEADS)} cannot exist beside {clash.removeprefix(HEADS)}: "
        "git keeps branches as files in folders.",
        hint="Choose a name that is not a folder of another branch.",
    )


def _failed(ref: str, error: Exception) -> GitFailed:
    return GitFailed(f"{ref} could not be moved: {error}", hint="Run `forge doctor`.")
