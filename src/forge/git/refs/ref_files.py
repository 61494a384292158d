"""Refs as git keeps them: small files, each replaced under a lock of its own, with a log of where it has been."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import pygit2

from forge.git.checkout.worktrees import branch_shown
from forge.git.errors import RepositoryUnreadable
from forge.git.process import disk
from forge.git.process.liveness import mark_of_this_process
from forge.git.values import CommitId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

HEADS = "refs/heads/"
KEPT = "refs/forge/kept/"
BESIDE = "refs/forge/sessions/"
"""A conversation beside each branch of the same name."""
KEPT_BESIDE = "refs/forge/kept-sessions/"
"""Conversations that no branch shows any more."""
_LOGGED = (HEADS, "refs/remotes/", "refs/notes/")
_ATTEMPTS = 100
_NOTHING = "0" * 40


def found(objects: Objects, ref: str) -> pygit2.Reference | None:
    """What `ref` is now: loose or packed, direct or symbolic."""
    try:
        return objects.handle.references.get(ref)
    except (pygit2.GitError, ValueError) as e:
        raise RepositoryUnreadable(
            f"{ref.removeprefix(HEADS)} is damaged: its file in the repository names no commit.",
            hint=f"Set it anew: `git update-ref {ref} COMMIT`. `forge undo --list` may know where it was.",
        ) from e


def direct_target(objects: Objects, ref: str) -> CommitId | None:
    now = found(objects, ref)
    return None if now is None else CommitId(str(now.target))


def direct_branches(objects: Objects) -> dict[str, CommitId]:
    """Every branch by its ref, without those that are damaged, and without aliases: they move with what they name."""
    tips: dict[str, CommitId] = {}
    for ref in (ref for ref in objects.handle.references if ref.startswith(HEADS)):
        with suppress(RepositoryUnreadable):
            now = found(objects, ref)
            if now is not None and isinstance(now.raw_target, pygit2.Oid):
                tips[ref] = CommitId(str(now.raw_target))
    return tips


class RefLock:
    """git's lock on one ref. What is in it tells others whose it is, should this process die.

    With a value the lock is the ref's next content, and `replace_ref` makes it the ref; without, it holds our mark.
    """

    def __init__(self, common_dir: Path, ref: str, value: CommitId | None = None) -> None:
        self._ref = f"{common_dir}/{ref}"
        self._lock = f"{self._ref}.lock"
        self._value = value

    def __enter__(self) -> Self:
        # Open until the lock is returned: that is how a living owner is distinguished from a dead one.
        self._fd = _opened(self._lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            if self._value is not None:
                _write(self._fd, f"{self._value}\n".encode())
            else:
                with suppress(OSError):  # a full disk can still lose a ref
                    os.write(self._fd, mark_of_this_process().encode())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._fd)
        if self._lock:
            with suppress(FileNotFoundError):
                os.unlink(self._lock)

    def sync(self) -> None:
        os.fsync(self._fd)

    def replace_ref(self) -> None:
        """Everybody sees the new value; it is durable after `sync_folder`."""
        try:
            os.rename(self._lock, self._ref)
        except IsADirectoryError:
            # Folders stay behind when the branches in them go.
            for folder, _, _ in os.walk(self._ref, topdown=False):
                os.rmdir(folder)
            os.rename(self._lock, self._ref)
        self._lock = ""


def sync_folder(common_dir: Path, ref: str) -> None:
    """Make durable that `ref` was replaced."""
    with disk.reporting():
        try:
            disk.sync_directory(os.path.dirname(f"{common_dir}/{ref}"))
        except FileNotFoundError:
            # `git pack-refs` has taken the ref, and its folder with it.
            with suppress(FileNotFoundError):
                disk.sync_file(common_dir / "packed-refs")
            disk.sync_directory(common_dir)


def log_move(objects: Objects, ref: str, before: CommitId | None, after: CommitId, message: str) -> None:
    """A line in the reflog of `ref`, and in that of HEAD where it shows `ref`. As with git, neither is synced."""
    line = b"%s %s %s\t%s\n" % ((before or _NOTHING).encode(), after.encode(), _who(objects), message.encode())
    _append(objects, objects.common_dir, ref, line)
    if ref.startswith(HEADS) and branch_shown(objects.git_dir, objects.common_dir) == ref.removeprefix(HEADS):
        _append(objects, objects.git_dir, "HEAD", line)


def log_note(objects: Objects, ref: str, at: CommitId, message: str) -> None:
    """A line in the reflog of `ref`, which stays where it is. git moves and drops it with the branch."""
    line = b"%s %s %s\t%s\n" % (at.encode(), at.encode(), _who(objects), message.encode())
    _append(objects, objects.common_dir, ref, line)


def _append(objects: Objects, git_dir: Path, ref: str, line: bytes) -> None:
    path = f"{git_dir}/logs/{ref}"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except (FileNotFoundError, IsADirectoryError):
        if not _is_logged(objects, ref):
            return
        for folder, _, _ in os.walk(path, topdown=False):
            os.rmdir(folder)
        fd = _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(fd).st_size
        try:
            _write(fd, line)
        except OSError:
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)


def _is_logged(objects: Objects, ref: str) -> bool:
    """Whether a ref without a log is given one, as `core.logAllRefUpdates` has it."""
    if ref.startswith((KEPT, KEPT_BESIDE)):
        # git reads reflogs after refs, so a gc that saw neither the branch nor what keeps it (it read one before
        # and the other after we changed them) still sees this.
        return True
    config = objects.config
    wanted = str(config["core.logAllRefUpdates"]).lower() if "core.logAllRefUpdates" in config else ""
    if wanted == "always":
        return True
    usual = ref == "HEAD" or ref.startswith(_LOGGED)
    return usual and (wanted in ("true", "yes", "on", "1") or (not wanted and not objects.handle.is_bare))


def _who(objects: Objects) -> bytes:
    try:
        who = objects.handle.default_signature
    except (KeyError, pygit2.GitError):  # git knows nobody here
        who = pygit2.Signature("unknown", "unknown")
    hours, minutes = divmod(abs(who.offset), 60)
    zone = b"%c%02d%02d" % (b"-" if who.offset < 0 else b"+", hours, minutes)
    return b"%s <%s> %d %s" % (who.raw_name, who.raw_email, who.time, zone)


def _opened(path: str, flags: int) -> int:
    # git removes empty folders of refs, also in the moment after one was made.
    for _ in range(_ATTEMPTS):
        try:
            return os.open(path, flags | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            _make_folder(os.path.dirname(path))
    return os.open(path, flags | os.O_CLOEXEC, 0o666)


def _make_folder(folder: str) -> None:
    above = os.path.dirname(folder)
    try:
        os.mkdir(folder)
    except FileNotFoundError:
        _make_folder(above)
        _make_folder(folder)
    except FileExistsError:
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise
    else:
        disk.sync_directory(above)


def _write(fd: int, data: bytes) -> None:
    if os.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
