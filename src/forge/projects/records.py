"""One project's directory as a git repository: files are what people see, commits are what happened to them.

Forge's own changes are whole or absent whatever dies; what people changed by hand is committed as theirs first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from forge.errors import ForgeError
from forge.git import PERSON, CommitId, Mode, Repository, Signature, WorkInProgressVFS
from forge.git.checkout.checkout_update import CheckoutState
from forge.git.objects.commits import message_with
from forge.git.objects.raw_object import NewObjects
from forge.git.process import disk
from forge.git.workspace import paths
from forge.projects import files, pending, recovery
from forge.projects.differences import Directory
from forge.projects.edits import commit_edits
from forge.projects.errors import ProjectBusy, ProjectUnreadable, ProjectUnwritable
from forge.projects.files import OnDisk, reported
from forge.projects.pending import PendingRecord
from forge.projects.steps import TRAILER, CommittedSteps

Read = Callable[[str], str | None]
Change = Callable[[Read], Mapping[str, str | bytes | None]]
"""Gets a way to read files as they are now; gives those to write, None for those to delete."""

LOCK = "forge/records.lock"
"""In the git directory; also the mark of a repository that is a project."""
IGNORED = "forge.log\n.DS_Store\nThumbs.db\n*.swp\n*~\n.~lock.*#\n~$*\n"
_IN_PROGRESS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_SPARE_BYTES = 512 << 10
_FORGE = ("Forge", "forge@localhost")


@dataclass(frozen=True, slots=True)
class Taken:
    """What was found in the directory: the commit of a person's edits, and sentences for that person."""

    commit: str | None = None
    files: tuple[str, ...] = ()
    recovered: tuple[str, ...] = ()


class Records:
    def __init__(self, directory: Path, repository: Repository) -> None:
        self.directory = directory
        self.repository = repository
        # What people put into a project is theirs, whatever its size; resources have a limit of their own.
        repository.largest_file = None
        self._lock = repository.common_dir / LOCK
        self._holder: int | None = None
        self._seen = Directory(directory, repository)
        self._steps = CommittedSteps(repository.objects)
        self._untold: list[str] = []
        self._told: set[str] = set()

    @classmethod
    def init(cls, directory: Path, files: Mapping[str, str | bytes], message: str) -> Records:
        """A new project directory with `files` as its first commit."""
        with reported():
            records = cls(directory, Repository.init(directory))
        first = {".gitignore": IGNORED} | dict(files)
        records.update(lambda _: first, message)
        return records

    @classmethod
    def open(cls, directory: Path) -> Records:
        """The records there. A write that a crash interrupted is finished first."""
        if not directory.is_dir():
            raise ProjectUnreadable(f"{directory} is not a directory.", hint="`forge project list` shows projects.")
        with reported():
            # Looked for above it as well, a repository of somebody else could be found.
            known = (directory / ".git").exists()
            records = cls(directory, Repository.open(directory) if known else Repository.init(directory))
        if pending.exists(records.repository):
            with records._alone():
                pass
        if not known:
            records.take_in()
        return records

    def move_to(self, place: Path) -> None:
        """Move the whole directory, while nobody writes in it."""
        with self._alone(), reported():
            os.rename(self.directory, place)

    @property
    def branch(self) -> str:
        branch = self.repository.current_branch
        if branch is None:
            raise ProjectBusy(f"{self.directory} shows no branch.", hint="Run `git switch main` there.")
        return branch

    def tip(self) -> CommitId | None:
        return self.repository.refs.tip(self.branch)

    def take_in(self) -> Taken:
        """Commit what people changed by hand, as theirs, and restore files that are broken or missing."""
        with self._alone():
            taken = self._take_in()
        sentences, self._untold = [*self._untold, *taken.recovered], []
        return replace(taken, recovered=tuple(sentences))

    def restore(self) -> None:
        """The same; what there is to tell about it is told by the next `take_in`."""
        recovered = self.take_in().recovered
        self._untold = [*self._untold, *recovered]

    def read(self, path: str) -> str | None:
        """The text of a file as it is in the directory now."""
        with ExitStack() as stack:
            if self._holder != threading.get_ident():
                with suppress(OSError):  # where the lock cannot be had, the disk is read-only and nobody writes
                    stack.enter_context(disk.locked(self._lock, shared=True))
            return self._read(path)

    def update(self, change: Change, message: str, *, step: str | None = None) -> CommitId | None:
        """Write what `change` gives as one commit; None if nothing differs. A `step` is written once for all time."""
        step = step.strip() if step else None
        with self._alone():
            done = self._steps.commit_of(step, self.tip()) if step else None
            if done is not None:
                return done
            self._untold += self._take_in().recovered
            return self._write(change(self._read), message, step)

    def _read(self, path: str) -> str | None:
        paths.readable(path)
        try:
            return (self.directory / path).read_bytes().decode("utf-8-sig", "replace")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as e:
            raise ProjectUnreadable(f"{path} cannot be read: {e.strerror}.", hint="Check who may read it.") from e

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the project against all other processes, with nothing half done in it."""
        if self._holder == threading.get_ident():
            raise RuntimeError("A change of a project's files cannot start another one.")
        with ExitStack() as stack:
            with reported():
                stack.enter_context(disk.locked(self._lock))
            self._holder = threading.get_ident()
            try:
                self._refuse_when_busy()
                self._finish()
                yield
            finally:
                self._holder = None

    def _refuse_when_busy(self) -> None:
        for name in _IN_PROGRESS:
            if (self.repository.git_dir / name).exists():
                raise ProjectBusy(
                    f"A merge or rebase is under way in {self.directory}.",
                    hint="Finish it with git, or give it up with `git merge --abort` or `git rebase --abort`.",
                )

    def _finish(self) -> None:
        with reported():
            interrupted = pending.noted(self.repository)
            if interrupted is not None:
                pending.finish(self.repository, self.directory, interrupted)

    def _take_in(self) -> Taken:
        with reported():
            found = self._seen.differences(self.tip())
            edits, broken = recovery.sorted_out(found.changed)
            commit, named, refused = commit_edits(self.repository, self.branch, edits) if edits else (None, (), ())
            news = self._news([*found.left_out.values(), *refused])
            restored = [self._restored(path, content) for path, content in broken.items()]
            return Taken(commit, named, (*news, *restored))

    def _restored(self, path: str, content: OnDisk | None) -> str:
        """Put the last good version of `path` back, after its broken bytes are safe; a sentence about it."""
        plan = recovery.plan(self.repository, self.tip(), path, content)
        if plan.kept:
            self._write(plan.kept, plan.message, None)
        if plan.good is None:
            files.remove(self.directory, path)
        else:
            scratch = self.repository.objects.scratch
            files.put(self.directory, path, OnDisk(Mode.FILE, plan.good), scratch=scratch)
        return plan.sentence

    def _news(self, sentences: list[str]) -> list[str]:
        """What is left out is told once, not at every write."""
        news = [sentence for sentence in sentences if sentence not in self._told]
        self._told |= set(news)
        return news

    def _write(self, changed: Mapping[str, str | bytes | None], message: str, step: str | None) -> CommitId | None:
        view = self.repository.workspace(self.branch)
        _apply(view, changed)
        if not view.pending:
            return None
        touched, base = sorted(view.pending), view.base
        text = message_with(message, {TRAILER: step} if step else None)
        with reported():
            self._refuse_full_disk(sum(len(new.data or b"") for new in view.pending.values() if new))
            made, new = view.draft(text, Signature(*_FORGE))
            write = PendingRecord(view.branch, made, base)
            self._land(write, new, text.splitlines()[0])
            files.sync(self.directory, touched)
            pending.forget(self.repository)
        self._seen.wrote(base, made, touched)
        return made

    def _land(self, write: PendingRecord, new: NewObjects, reason: str) -> None:
        def place() -> None:
            pending.place(self.repository, self.directory, write)

        refs = self.repository.refs
        try:
            pending.note(self.repository, write)
            done = refs.land(
                write.branch, write.commit, new, before=write.parent, actor=PERSON, reason=reason, place=place
            )
        except (ForgeError, OSError):
            pending.give_up(self.repository, self.directory, write)
            raise
        if not done.checkouts or any(each.state is not CheckoutState.UPDATED for each in done.checkouts):
            pending.finish(self.repository, self.directory, write)

    def _refuse_full_disk(self, size: int) -> None:
        """Before anything is touched: git leaves the directory behind the commit when the disk is nearly full."""
        room = os.statvfs(self.directory)
        if room.f_bavail * room.f_frsize < 3 * size + _SPARE_BYTES:
            raise ProjectUnwritable("The disk is full; nothing was changed.", hint="Free some space and try again.")


def _apply(view: WorkInProgressVFS, changed: Mapping[str, str | bytes | None]) -> None:
    for path, content in changed.items():
        if content is None and view.entry(path) is not None:
            view.delete_file(path)
    for path, content in changed.items():
        if content is not None:
            view.write_bytes(path, content.encode("utf-8", "replace") if isinstance(content, str) else content)
