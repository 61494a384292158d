"""A git repository, opened. Methods delegate to the module of their noun."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from forge.git import identity, location
from forge.git.errors import GitFailed, RepositoryUnreadable, RevisionMissing
from forge.git.history import blame, commit_graph, commit_log, diff, graph, patch
from forge.git.history.abandoned import abandoned_tips
from forge.git.history.revisions import branch_tip, resolved, tip_of
from forge.git.materialize.directory import MaterializedDirectory, held_directory
from forge.git.merging import merge, rebase
from forge.git.merging.preview import MergePreview, Resolutions, StepResolutions, perform
from forge.git.merging.status import MergeState, MergeStatus, MergeStatusCache, merge_status
from forge.git.objects.object_store import Objects
from forge.git.refs import branches
from forge.git.refs.damage import damage_at
from forge.git.refs.ref_store import Refs
from forge.git.search import results
from forge.git.values import PERSON, Actor, Commit, CommitId, Signature
from forge.git.workspace.commit_vfs import GitCommitVFS
from forge.git.workspace.work_in_progress import LARGEST_FILE, WorkInProgressVFS

if TYPE_CHECKING:
    from forge.git.history.blame import BlameLine
    from forge.git.history.commit_log import LogOptions
    from forge.git.history.diff import FileChange
    from forge.git.history.graph import GraphCursor, GraphRow
    from forge.git.materialize.budget import Budget
    from forge.git.refs.operations.operation import Operation
    from forge.git.search.query import Query
    from forge.git.search.results import SearchResult


class Repository:
    def __init__(self, git_dir: Path, *, default_branch: str | None = None) -> None:
        self.git_dir = git_dir
        self.common_dir = location.common_dir(git_dir)
        self.objects = Objects(git_dir, self.common_dir)
        self.refs = Refs(self.objects, default_branch=default_branch)
        self.largest_file: int | None = LARGEST_FILE
        """What a workspace takes without being told that a larger file is meant."""
        self.sessions_beside: Callable[[], bool] = lambda: False
        """Whether a new conversation goes to a ref beside its branch; asked only where it matters."""
        self._merge_states = MergeStatusCache()
        self._looked_at_commit_graph = False
        work_tree = self.objects.handle.workdir
        self.work_tree = Path(work_tree) if work_tree else None

    @classmethod
    def open(cls, path: Path | str, *, default_branch: str | None = None) -> Repository:
        """The repository at or above `path`: normal, bare, empty, worktree or submodule."""
        git_dir = location.git_dir_at(path)
        with location.reporting(location.top(git_dir)):
            return cls(git_dir, default_branch=default_branch)

    @classmethod
    def init(cls, path: Path | str, *, bare: bool = False, default_branch: str = "main") -> Repository:
        """A new repository, or the one that is there already."""
        return cls.open(location.made_at(path, bare=bare, default_branch=default_branch))

    @property
    def is_empty(self) -> bool:
        """Whether there is no commit on any branch yet."""
        return not (self.refs.branches() or self.refs.branches(damaged=True))

    @property
    def default_branch(self) -> str | None:
        return self.refs.default_branch()

    @property
    def current_branch(self) -> str | None:
        """The branch that HEAD names, also before its first commit; None when HEAD is detached."""
        return self.refs.head_branch()

    def commit(self, rev: str) -> Commit:
        return self.objects.commit(self.resolve(rev))

    def kept(self, *, abandoned: bool = False) -> list[tuple[str, CommitId]]:
        """Tips of deleted, rewound or rebased branches, by the name `<branch>@<id>`; if `abandoned`, only those that
        nothing else leads to.
        """
        kept = self.refs.kept()
        return abandoned_tips(self.objects, kept) if abandoned else kept

    def resolve(self, rev: str) -> CommitId:
        """The commit that a branch name, tag, id or expression such as `main~2` means."""
        return resolved(self.objects, self.refs, rev)

    def signature(self) -> Signature:
        """The person's name and address as git is configured, now."""
        return identity.signature(self.objects)

    def configured(self, key: str) -> str:
        """A value of git's configuration, now; empty where it is not set."""
        return identity.configured(self.objects, key)

    # -- files

    def commit_vfs(self, rev: str) -> GitCommitVFS:
        commit = self.resolve(rev)
        return GitCommitVFS(self.objects, commit, branch=rev if branch_tip(self.refs, rev) else None)

    def workspace(
        self, branch: str, *, actor: Actor = PERSON, base: CommitId | Literal["tip"] | None = "tip"
    ) -> WorkInProgressVFS:
        """A writable view of `branch` as it is now, or as it was at `base`.

        A branch that HEAD names may still wait for its first commit.
        """
        largest = self.largest_file
        opened = WorkInProgressVFS(
            self.objects, self.refs, branch, self.signature, actor=actor, base=base, largest_file=largest
        )
        if opened.base is None and branch != self.current_branch and not self.is_empty:
            tip_of(self.refs, branch)
        return opened

    def search(self, view: GitCommitVFS | WorkInProgressVFS, query: Query) -> SearchResult:
        """Look for `query` in the files of a commit, or of a workspace with its pending changes."""
        if isinstance(view, WorkInProgressVFS):
            return results.search(self.objects, view.base_tree, query, pending=view.pending)
        return results.search(self.objects, view.tree, query)

    @contextmanager
    def materialize(
        self,
        view: GitCommitVFS | WorkInProgressVFS,
        *,
        root: Path | None = None,
        budget: Budget | None = None,
        keep_ignored: bool = True,
    ) -> Iterator[MaterializedDirectory]:
        """A real directory with the files of `view`, for commands; kept below `root` and updated by the difference."""
        with held_directory(self.refs, view, root=root, budget=budget, keep_ignored=keep_ignored) as directory:
            yield directory

    # -- branches

    def branches(self) -> tuple[branches.Branch, ...]:
        return branches.listed(self.objects, self.refs)

    def create_branch(self, name: str, start: str = "HEAD", *, actor: Actor = PERSON) -> CommitId:
        tip = self.resolve(start)
        source = start if branch_tip(self.refs, start) else self.current_branch if start == "HEAD" else None
        branches.create(self.objects, self.refs, name, tip, actor=actor, source=source)
        return tip

    def fork_branch(self, source: str, name: str, *, actor: Actor = PERSON) -> CommitId:
        tip = tip_of(self.refs, source)
        branches.create(self.objects, self.refs, name, tip, actor=actor, source=source)
        return tip

    def rename_branch(self, old: str, new: str, *, actor: Actor = PERSON) -> Operation:
        return branches.rename(self.objects, self.refs, old, new, actor=actor)

    def delete_branch(self, name: str, *, actor: Actor = PERSON) -> Operation:
        return branches.delete(self.objects, self.refs, name, actor=actor)

    def rewind_branch(self, name: str, to: str, *, actor: Actor = PERSON, said: CommitId | None = None) -> Operation:
        """`said` is the commit beside the branch that it goes back to, where conversations are kept there."""
        return branches.rewind(self.objects, self.refs, name, self.resolve(to), actor=actor, said=said)

    # -- history

    def log(self, *starts: str, **options: Unpack[LogOptions]) -> Iterator[Commit]:
        """Commits, newest first, from the given points or from HEAD; see `commit_log.log` for the options."""
        if not starts and self.is_empty:
            return iter(())
        return commit_log.log(self.objects, [self.resolve(rev) for rev in starts or ("HEAD",)], **options)

    def show(self, rev: str) -> commit_log.CommitDetails:
        return commit_log.show(self.objects, self.resolve(rev))

    def diff(self, old: str | None, new: str, *, paths: Sequence[str] = ()) -> tuple[FileChange, ...]:
        """What differs between two commits; from None everything is new."""
        old_tree = self.commit(old).tree if old is not None else None
        return diff.diff(self.objects, old_tree, self.commit(new).tree, paths=paths)

    def patch(self, change: FileChange, *, context: int = 3, binary: bool = True) -> bytes:
        return patch.patch_text(self.objects, change, context=context, binary=binary)

    def blame(self, path: str, rev: str = "HEAD", *, lines: tuple[int, int] | None = None) -> Iterator[BlameLine]:
        return blame.blame(self.objects, self.resolve(rev), path, lines=lines)

    def graph(
        self, *, limit: int | None = None, resume: GraphCursor | None = None, abandoned: bool = False
    ) -> Iterator[GraphRow]:
        """Commits of all branches with their lanes, newest first, in pages."""
        if not self._looked_at_commit_graph:
            self._looked_at_commit_graph = True
            commit_graph.refresh_commit_graph(self.objects)
        return graph.graph(self.objects, limit=limit, resume=resume, abandoned=abandoned)

    # -- bringing work together

    def preview_merge(
        self,
        source: str,
        target: str,
        *,
        message: str | None = None,
        no_ff: bool = False,
        instead: Mapping[str, bytes] | None = None,
    ) -> MergePreview:
        """What merging `source` into branch `target` would give. Nothing is written.

        `instead` are files that come in place of the conversation of `source`.
        """
        return merge.preview_merge(
            self.objects,
            self.refs,
            self.resolve(source),
            target,
            committer=self.signature(),
            message=message,
            source_name=source,
            no_ff=no_ff,
            instead=instead,
        )

    def preview_rebase(
        self,
        branch: str,
        onto: str,
        *,
        first: str | None = None,
        resolutions: StepResolutions | None = None,
        instead: Mapping[str, bytes] | None = None,
    ) -> MergePreview:
        """What `branch` would be if its own commits, or those from `first` on, began at `onto`. Nothing is written."""
        return rebase.preview_rebase(
            self.objects,
            self.refs,
            branch,
            self.resolve(onto),
            committer=self.signature(),
            onto_name=onto,
            first=self.resolve(first) if first is not None else None,
            resolutions=resolutions,
            instead=instead,
        )

    def preview_cherry_pick(
        self,
        picked: str | Sequence[str],
        target: str,
        *,
        mainline: int | None = None,
        record_origin: bool = False,
        resolutions: StepResolutions | None = None,
        instead: Mapping[str, bytes] | None = None,
    ) -> MergePreview:
        """What copying commits onto branch `target` would give. Nothing is written."""
        revs = [picked] if isinstance(picked, str) else picked
        return rebase.preview_cherry_pick(
            self.objects,
            self.refs,
            [self.resolve(rev) for rev in revs],
            target,
            committer=self.signature(),
            mainline=mainline,
            record_origin=record_origin,
            resolutions=resolutions,
            instead=instead,
        )

    def perform(
        self,
        preview: MergePreview,
        *,
        resolutions: Resolutions | StepResolutions | None = None,
        actor: Actor = PERSON,
    ) -> Operation | None:
        """Do exactly what `preview` shows, or raise; None if there is nothing to do."""
        return perform(self.objects, self.refs, preview, actor=actor, resolutions=resolutions)

    def merge_status(self, branches: Sequence[str], target: str) -> dict[str, MergeStatus]:
        """For each branch whether it merges cleanly into `target`. Remembered while the repository is open."""
        onto = self.resolve(target)
        self.objects.commit(onto)
        try:
            tips = {name: self.resolve(name) for name in branches}
            found = merge_status(self.objects, tips, onto, cache=self._merge_states)
            # What is not there at all has nothing in common with anything.
            lost = [
                n for n, at in found.items() if at.state is MergeState.UNRELATED and damage_at(self.objects, tips[n])
            ]
            return {**found, **dict.fromkeys(lost, MergeStatus(MergeState.DAMAGED))}
        except (RevisionMissing, RepositoryUnreadable, GitFailed):
            if len(branches) == 1:
                return {branches[0]: MergeStatus(MergeState.DAMAGED)}
        # One that cannot be read hides no other.
        half = len(branches) // 2
        return {**self.merge_status(branches[:half], target), **self.merge_status(branches[half:], target)}

    # -- operations

    def operations(self) -> Iterator[Operation]:
        return branches.operations(self.refs)

    def undo(self, operation_id: str | None = None, *, actor: Actor = PERSON) -> Operation:
        return branches.undo(self.refs, operation_id, actor=actor)
