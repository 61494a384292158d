"""Where conversations are kept: in the branch itself, or on a ref beside it that a team's history does not show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forge.errors import ForgeError
from forge.git import PERSON, CommitId, GitCommitVFS, RefMove, Repository, Signature, WorkInProgressVFS
from forge.git.refs.side_refs import BESIDE, CONTEXT, said_on
from forge.git.workspace.forge_records import is_session
from forge.git.workspace.side_commit import commit_apart
from forge.sessions.conversation import read_head
from forge.sessions.head import Head, write_draft
from forge.sessions.layout import HEAD_PATH, POINTER, SessionUnreadable
from forge.sessions.marks import Marks, marks_of, take
from forge.sessions.migration import take_second_format
from forge.sessions.saved_marks import write_saved
from forge.sessions.trailers import turn_of
from forge.sessions.turn_files import has_marks, has_turns, state_of
from forge.sessions.turns import TurnMissing

FOLDER = BESIDE
# How far back a turn's commit is looked for when the branch has moved on since.
_RECENT = 200


@dataclass(frozen=True, slots=True)
class Sessions:
    """The conversations of one repository. A branch that has one in its tree keeps it there, whatever is set."""

    repo: Repository
    beside: bool = False

    def at(self, branch: str) -> CommitId | None:
        """The commit that holds the conversation of `branch` as it is now."""
        tip = self.repo.refs.tip(branch)
        return said_on(self.repo.objects, self.repo.refs, branch, tip) if self.is_beside(tip) else tip

    def files(self, branch: str, commit: CommitId | None) -> GitCommitVFS:
        """The commit that holds what was said, as `branch` has it."""
        return GitCommitVFS(self.repo.objects, commit, branch=branch)

    def head(self, branch: str) -> Head:
        """Where the conversation of `branch` stands, with what was marked since its last turn."""
        return self.marks(branch).applied(read_head(self.files(branch, self.at(branch))))

    def marks(self, branch: str) -> Marks:
        return marks_of(self.repo.common_dir, branch)

    def mount(self, vfs: WorkInProgressVFS, said_in: CommitId | None, marks: Marks) -> None:
        """Let tools see and change which files are in context, wherever that is kept."""
        if marks or self.is_beside(vfs.base):
            write_draft(vfs, marks.applied(read_head(self.files(vfs.branch, said_in))))

    def at_commit(self, branch: str, commit: CommitId) -> CommitId | None:
        """The conversation of `branch` as it was when `commit` was made."""
        if not self.is_beside(commit):
            return commit
        newest = self.repo.refs.target(FOLDER + branch)
        made = self.repo.commit(commit).committer.time
        said = self.repo.log(newest) if newest else ()
        return next((each.id for each in said if each.committer.time <= made), None)

    def fork(self, source: str, name: str, said_in: CommitId | None = None) -> None:
        """Give a new branch the conversation of another, up to `said_in`; in a tree it has that already."""
        said_in = said_in or self.repo.refs.target(FOLDER + source)
        if said_in is not None and self.is_beside(self.repo.refs.tip(name)):
            move = RefMove(FOLDER + name, self.repo.refs.target(FOLDER + name), said_in)
            self.repo.refs.move([move], actor=PERSON, reason=f"conversation of {source}", forward=True)

    def commit(self, vfs: WorkInProgressVFS, message: str, author: Signature, trailers: Mapping[str, str]) -> CommitId:
        """One turn onto its branch; beside it, the conversation goes to its own ref in the same operation.

        Gives the commit that has the files, or, where no file changed, the one that has the conversation.
        """
        if not self.is_beside(vfs.base):
            return vfs.commit(message, author, trailers)
        ref = FOLDER + vfs.branch
        said = said_on(self.repo.objects, self.repo.refs, vfs.branch, vfs.base)
        made = commit_apart(
            self.repo.refs, vfs, ref, is_session, onto=said, message=message, author=author, trailers=trailers
        )
        return made.commit or made.beside

    def save(
        self,
        vfs: WorkInProgressVFS,
        message: str,
        author: Signature | None = None,
        trailers: Mapping[str, str] | None = None,
    ) -> CommitId:
        """A commit of files. What was marked since the last turn goes along, except on a protected branch.

        A branch of the first format takes the second one with it.
        """
        if self.repo.refs.protected(vfs.branch):
            return vfs.commit(message, author, trailers)
        marks, before = self.marks(vfs.branch), dict(vfs.pending)
        try:
            if self.is_beside(vfs.base):
                made = self._saved_beside(vfs, marks, message, author, trailers or {})
            else:
                marks = marks if _with_marks(vfs, marks) else Marks()
                made = vfs.commit(message, author, trailers)
        except ForgeError:
            vfs.restore(before)
            raise
        if marks:
            take(self.repo.common_dir, vfs.branch, marks)
        return made

    def _saved_beside(
        self,
        vfs: WorkInProgressVFS,
        marks: Marks,
        message: str,
        author: Signature | None,
        trailers: Mapping[str, str],
    ) -> CommitId:
        if not marks:
            return vfs.commit(message, author, trailers)
        said = said_on(self.repo.objects, self.repo.refs, vfs.branch, vfs.base)
        seen = self.files(vfs.branch, said)
        path = write_saved(vfs, seen, read_head(seen).ref, marks)
        if path not in vfs.pending:  # a process that died had saved them already
            return vfs.commit(message, author, trailers)
        vfs.write_record(HEAD_PATH, POINTER)
        made = commit_apart(
            self.repo.refs,
            vfs,
            FOLDER + vfs.branch,
            is_session,
            onto=said,
            message=message,
            author=author or self.repo.signature(),
            trailers={**trailers, CONTEXT: path.rpartition("/")[0].rpartition("-")[2]},
        )
        return made.commit or made.beside

    def committed(self, vfs: WorkInProgressVFS, branch: str, turn: str) -> CommitId | None:
        """The commit of `turn`, if a process that died after making it had not told so yet."""
        found = self._named(self.repo.refs.tip(branch), vfs.base, turn)
        if found is None and self.is_beside(vfs.base) and not _changes_files(vfs):
            found = self._named(self.repo.refs.target(FOLDER + branch), None, turn)
        return found

    def _named(self, tip: CommitId | None, base: CommitId | None, turn: str) -> CommitId | None:
        if tip is None or tip == base:
            return None
        commits = self.repo.log(tip, exclude=[base] if base else [], limit=_RECENT)
        return next((commit.id for commit in commits if turn_of(commit.message) == turn), None)

    def is_beside(self, tip: CommitId | None) -> bool:
        """Whether a turn that begins at `tip` keeps its words outside the branch."""
        objects = self.repo.objects
        if not self.beside:
            return False
        state = state_of(objects, tip)
        return not has_turns(objects, state) and not has_marks(objects, state)


def _with_marks(vfs: WorkInProgressVFS, marks: Marks) -> bool:
    """Make them pending; not where the conversation cannot be read: a save of files does not fail with it."""
    try:
        take_second_format(vfs)
        last = read_head(vfs).ref if marks else None
    except (SessionUnreadable, TurnMissing):
        return False
    if marks:
        write_saved(vfs, vfs, last, marks)
        vfs.write_record(HEAD_PATH, POINTER)
    return True


def _changes_files(vfs: WorkInProgressVFS) -> bool:
    return any(not is_session(path) for path in vfs.pending)
