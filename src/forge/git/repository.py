"""A git repository, opened. Methods delegate to the module of their noun."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Unpack

import pygit2
from platformdirs import user_cache_path

from forge.errors import ForgeError
from forge.git import (
    blame,
    branches,
    commit_graph,
    diff,
    disk,
    graph,
    history,
    merge,
    merge_preview,
    merge_status,
    patch,
    rebase,
    search,
)
from forge.git.blame import BlameLine
from forge.git.diff import FileChange
from forge.git.errors import (
    InvalidRevision,
    RepositoryMissing,
    RepositoryUnreadable,
    RevisionMissing,
    UnsupportedRepository,
)
from forge.git.graph import GraphCursor, GraphRow
from forge.git.history import LogOptions
from forge.git.materialize import Budget, MaterializedDirectory, materialize
from forge.git.merge_preview import MergePreview, Resolutions, StepResolutions
from forge.git.merge_status import MergeStatus, MergeStatusCache
from forge.git.objects import Objects
from forge.git.operations import Operation
from forge.git.refs import Refs, branch_ref
from forge.git.search import Query, SearchResult
from forge.git.values import PERSON, Actor, Commit, CommitId, Signature
from forge.git.vfs import GitCommitVFS
from forge.git.workspace import WorkInProgressVFS

_FULL_ID = re.compile("[0-9a-fA-F]{40}")
_REVISION = re.compile("[^\0\ud800-\udfff]{1,1000}")


class Repository:
    def __init__(self, git_dir: Path, *, default_branch: str | None = None) -> None:
        self.git_dir = git_dir
        self.common_dir = _common_dir(git_dir)
        self.objects = Objects(git_dir, self.common_dir)
        self.refs = Refs(self.objects, default_branch=default_branch)
        self._merge_states = MergeStatusCache()
        self._looked_at_commit_graph = False
        work_tree = self.objects.handle.workdir
        self.work_tree = Path(work_tree) if work_tree else None

    @classmethod
    def open(cls, path: Path | str, *, default_branch: str | None = None) -> Repository:
        """The repository at or above `path`: normal, bare, empty, worktree or submodule."""
        place = _place(path)
        if not place.exists():
            raise RepositoryMissing(f"{place} does not exist.", hint="Check the path.")
        top = place
        try:
            found = pygit2.discover_repository(str(place))
            if found is None:
                raise _missing(place)
            top = _top(Path(found))
            return cls(Path(found), default_branch=default_branch)
        except (pygit2.GitError, KeyError, OSError) as e:
            raise _unreadable(top, e) from e

    @classmethod
    def init(cls, path: Path | str, *, bare: bool = False, default_branch: str = "main") -> Repository:
        """A new repository, or the one that is there already."""
        place = _place(path)
        branch_ref(default_branch)
        with disk.reporting():
            place.mkdir(parents=True, exist_ok=True)
        try:
            made = pygit2.init_repository(str(place), bare=bare, initial_head=default_branch)
        except (pygit2.GitError, OSError) as e:
            raise _unreadable(place, e) from e
        if made.head_is_unborn:
            # The first commit is only as durable as the HEAD and configuration it is found by.
            with disk.reporting():
                disk.sync_tree(Path(made.path))
                disk.sync_directory(place)
        return cls.open(place)

    @property
    def is_empty(self) -> bool:
        """Whether there is no commit on any branch yet."""
        return not self.refs.branches()

    @property
    def default_branch(self) -> str | None:
        return self.refs.default_branch()

    @property
    def current_branch(self) -> str | None:
        """The branch that HEAD names, also before its first commit; None when HEAD is detached."""
        return self.refs.head_branch()

    def commit(self, rev: str) -> Commit:
        return self.objects.commit(self.resolve(rev))

    def kept(self) -> list[tuple[str, CommitId]]:
        """Tips of deleted, rewound or rebased branches, by the name `<branch>@<id>`."""
        return self.refs.kept()

    def resolve(self, rev: str) -> CommitId:
        """The commit that a branch name, tag, id or expression such as `main~2` means."""
        if not isinstance(rev, str) or not _REVISION.fullmatch(rev):
            raise InvalidRevision(f"{str(rev)[:40]!r} does not name a commit.", hint="Name a branch or an id.")
        # A branch may be named like a commit, but never stands in for one.
        branch = rev != "HEAD" and not _FULL_ID.fullmatch(rev) and pygit2.reference_is_valid_name(f"refs/heads/{rev}")
        if branch and (tip := self.refs.target(f"refs/heads/{rev}")) is not None:
            return tip
        try:
            return CommitId(str(self.objects.handle.revparse_single(rev).peel(pygit2.Commit).id))
        except KeyError as e:
            if rev == "HEAD":
                hint = "The first `forge file save` makes one."
                raise RevisionMissing("There is no commit here yet.", hint=hint) from e
            raise RevisionMissing(f"There is no commit or branch {rev}.", hint="`forge log` shows commits.") from e
        except (pygit2.GitError, ValueError, TypeError) as e:
            raise InvalidRevision(f"{rev!r} does not name a commit: {e}", hint="Name a branch or an id.") from e

    def signature(self) -> Signature:
        """The person's name and address as git is configured, now."""
        name = self._setting("user.name") or "Forge user"
        email = self._setting("user.email") or "forge@localhost"
        now = time.time()
        return Signature(name, email, int(now), (time.localtime(now).tm_gmtoff or 0) // 60)

    def _setting(self, key: str) -> str:
        config = self.objects.handle.config
        try:
            return str(config[key])
        except KeyError:
            return ""
        except UnicodeDecodeError:  # written in the days before UTF-8
            return self.objects.git.text("config", "--get", key).strip().encode("utf-8", "replace").decode()

    # -- files

    def commit_vfs(self, rev: str) -> GitCommitVFS:
        return GitCommitVFS(self.objects, self.resolve(rev))

    def workspace(
        self, branch: str, *, actor: Actor = PERSON, base: CommitId | Literal["tip"] | None = "tip"
    ) -> WorkInProgressVFS:
        """A writable view of `branch` as it is now, or as it was at `base`.

        A branch that HEAD names may still wait for its first commit.
        """
        opened = WorkInProgressVFS(self.objects, self.refs, branch, self.signature, actor=actor, base=base)
        if opened.base is None and branch != self.current_branch and not self.is_empty:
            branches.tip_of(self.refs, branch)
        return opened

    def search(self, view: GitCommitVFS | WorkInProgressVFS, query: Query) -> SearchResult:
        """Look for `query` in the files of a commit, or of a workspace with its pending changes."""
        if isinstance(view, WorkInProgressVFS):
            return search.search(self.objects, view.base_tree, query, pending=view.pending)
        return search.search(self.objects, view.tree, query)

    def materialize(
        self,
        view: GitCommitVFS | WorkInProgressVFS,
        *,
        root: Path | None = None,
        budget: Budget | None = None,
        keep_ignored: bool = True,
    ) -> AbstractContextManager[MaterializedDirectory]:
        """A real directory with the files of `view`, for commands; kept below `root` and updated by the difference."""
        return materialize(
            self.objects,
            view,
            root=root or user_cache_path("forge", appauthor=False) / "directories",
            key=view.branch if isinstance(view, WorkInProgressVFS) else "@commit",
            budget=budget,
            keep_ignored=keep_ignored,
        )

    # -- branches

    def branches(self) -> tuple[branches.Branch, ...]:
        return branches.listed(self.objects, self.refs)

    def create_branch(self, name: str, start: str = "HEAD", *, actor: Actor = PERSON) -> CommitId:
        tip = self.resolve(start)
        branches.create(self.refs, name, tip, actor=actor)
        return tip

    def fork_branch(self, source: str, name: str, *, actor: Actor = PERSON) -> CommitId:
        tip = branches.tip_of(self.refs, source)
        branches.create(self.refs, name, tip, actor=actor)
        return tip

    def rename_branch(self, old: str, new: str, *, actor: Actor = PERSON) -> Operation:
        return branches.rename(self.refs, old, new, actor=actor)

    def delete_branch(self, name: str, *, actor: Actor = PERSON) -> Operation:
        return branches.delete(self.refs, name, actor=actor)

    def rewind_branch(self, name: str, to: str, *, actor: Actor = PERSON) -> Operation:
        return branches.rewind(self.refs, name, self.resolve(to), actor=actor)

    # -- history

    def log(self, *starts: str, **options: Unpack[LogOptions]) -> Iterator[Commit]:
        """Commits, newest first, from the given points or from HEAD; see `history.log` for the options."""
        if not starts and self.current_branch is not None and self.refs.tip(self.current_branch) is None:
            return iter(())
        return history.log(self.objects, [self.resolve(rev) for rev in starts or ("HEAD",)], **options)

    def show(self, rev: str) -> history.CommitDetails:
        return history.show(self.objects, self.resolve(rev))

    def diff(self, old: str | None, new: str, *, paths: Sequence[str] = ()) -> tuple[FileChange, ...]:
        """What differs between two commits; from None everything is new."""
        old_tree = self.commit(old).tree if old is not None else None
        return diff.diff(self.objects, old_tree, self.commit(new).tree, paths=paths)

    def patch(self, change: FileChange, *, context: int = 3) -> bytes:
        return patch.patch_text(self.objects, change, context=context)

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
        self, source: str, target: str, *, message: str | None = None, no_ff: bool = False
    ) -> MergePreview:
        """What merging `source` into branch `target` would give. Nothing is written."""
        return merge.preview_merge(
            self.objects,
            self.refs,
            self.resolve(source),
            target,
            committer=self.signature(),
            message=message,
            source_name=source,
            no_ff=no_ff,
        )

    def preview_rebase(self, branch: str, onto: str, *, resolutions: StepResolutions | None = None) -> MergePreview:
        """What `branch` would be if its own commits began at `onto`. Nothing is written."""
        return rebase.preview_rebase(
            self.objects,
            self.refs,
            branch,
            self.resolve(onto),
            committer=self.signature(),
            onto_name=onto,
            resolutions=resolutions,
        )

    def preview_cherry_pick(
        self,
        picked: str | Sequence[str],
        target: str,
        *,
        mainline: int | None = None,
        record_origin: bool = False,
        resolutions: StepResolutions | None = None,
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
        )

    def perform(
        self,
        preview: MergePreview,
        *,
        resolutions: Resolutions | StepResolutions | None = None,
        actor: Actor = PERSON,
    ) -> Operation | None:
        """Do exactly what `preview` shows, or raise; None if there is nothing to do."""
        return merge_preview.perform(self.objects, self.refs, preview, actor=actor, resolutions=resolutions)

    def merge(
        self,
        source: str,
        target: str,
        *,
        message: str | None = None,
        no_ff: bool = False,
        resolutions: Resolutions | None = None,
        actor: Actor = PERSON,
    ) -> CommitId:
        """Merge `source` into branch `target`; the new tip."""
        preview = self.preview_merge(source, target, message=message, no_ff=no_ff)
        return self._performed(preview, resolutions, actor)

    def rebase(
        self, branch: str, onto: str, *, resolutions: StepResolutions | None = None, actor: Actor = PERSON
    ) -> CommitId:
        """Let the commits of `branch` begin at `onto`; the new tip. The old one is kept."""
        return self._performed(self.preview_rebase(branch, onto), resolutions, actor)

    def cherry_pick(
        self,
        picked: str | Sequence[str],
        target: str,
        *,
        mainline: int | None = None,
        record_origin: bool = False,
        resolutions: Resolutions | StepResolutions | None = None,
        actor: Actor = PERSON,
    ) -> CommitId:
        """Copy commits onto branch `target`; the new tip."""
        preview = self.preview_cherry_pick(picked, target, mainline=mainline, record_origin=record_origin)
        return self._performed(preview, resolutions, actor)

    def merge_status(self, branches: Sequence[str], target: str) -> dict[str, MergeStatus]:
        """For each branch whether it merges cleanly into `target`. Remembered while the repository is open."""
        tips = {name: self.resolve(name) for name in branches}
        return merge_status.merge_status(self.objects, tips, self.resolve(target), cache=self._merge_states)

    def _performed(
        self, preview: MergePreview, resolutions: Resolutions | StepResolutions | None, actor: Actor
    ) -> CommitId:
        self.perform(preview, resolutions=resolutions, actor=actor)
        return branches.tip_of(self.refs, preview.target)

    # -- operations

    def operations(self) -> Iterator[Operation]:
        return branches.operations(self.refs)

    def undo(self, operation_id: str | None = None, *, actor: Actor = PERSON) -> Operation:
        return branches.undo(self.refs, operation_id, actor=actor)


def _place(path: Path | str) -> Path:
    if "\0" in str(path):
        raise RepositoryMissing("A path cannot contain a NUL character.", hint="Check the path.")
    try:
        return Path(path).expanduser()
    except RuntimeError:  # `~name` of nobody
        return Path(path)


def _common_dir(git_dir: Path) -> Path:
    """Where a linked worktree shares objects and branches with its repository."""
    try:
        pointer = (git_dir / "commondir").read_text().strip()
    except FileNotFoundError:
        return git_dir
    return (git_dir / pointer).resolve()


def _top(git_dir: Path) -> Path:
    """What a person calls the repository, and git too where it asks whom to trust."""
    return git_dir.parent if git_dir.name == ".git" else git_dir


def _missing(place: Path) -> RepositoryMissing:
    return RepositoryMissing(
        f"{place} is not inside a git repository.",
        hint="Run `git init` there, or pass -C DIR to choose another.",
    )


def _unreadable(place: Path, error: Exception) -> ForgeError:
    text = str(error)
    if "sha256" in text.lower() or "object format" in text or "objectformat" in text.lower():
        return UnsupportedRepository(
            f"{place} uses SHA-256 object names, which are not supported.", hint="Use a SHA-1 repository."
        )
    if "extension" in text.lower() or "version" in text.lower():
        return UnsupportedRepository(
            f"{place} uses a repository format that is not supported ({text}).",
            hint="Repositories with reftable or other extensions cannot be opened; clone it with defaults.",
        )
    if "owned by" in text or "owner" in text.lower():
        return RepositoryUnreadable(
            f"{place} belongs to another user.",
            hint=f"If you trust it: git config --global --add safe.directory {shlex.quote(str(place))}",
        )
    return RepositoryUnreadable(f"{place} cannot be opened: {text}", hint="Run `git fsck` on the repository.")
