"""A git repository, opened. Methods delegate to the module of their noun."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pygit2

from forge.errors import ForgeError
from forge.git import branches, disk
from forge.git.errors import (
    InvalidRevision,
    RepositoryMissing,
    RepositoryUnreadable,
    RevisionMissing,
    UnsupportedRepository,
)
from forge.git.objects import Objects
from forge.git.operations import Operation
from forge.git.refs import Refs
from forge.git.values import PERSON, Actor, Commit, CommitId, Signature
from forge.git.vfs import GitCommitVFS
from forge.git.workspace import WorkInProgressVFS


class Repository:
    def __init__(self, git_dir: Path, *, default_branch: str | None = None) -> None:
        self.git_dir = git_dir
        self.common_dir = _common_dir(git_dir)
        self.objects = Objects(git_dir, self.common_dir)
        self.refs = Refs(self.objects, default_branch=default_branch)
        work_tree = self.objects.handle.workdir
        self.work_tree = Path(work_tree) if work_tree else None

    @classmethod
    def open(cls, path: Path | str, *, default_branch: str | None = None) -> Repository:
        """The repository at or above `path`: normal, bare, empty, worktree or submodule."""
        place = Path(path).expanduser()
        if not place.exists():
            raise RepositoryMissing(f"{place} does not exist.", hint="Check the path.")
        try:
            found = pygit2.discover_repository(str(place))
            if found is None:
                raise _missing(place)
            return cls(Path(found), default_branch=default_branch)
        except (pygit2.GitError, KeyError, OSError) as e:
            raise _unreadable(place, e) from e

    @classmethod
    def init(cls, path: Path | str, *, bare: bool = False, default_branch: str = "main") -> Repository:
        """A new repository, or the one that is there already."""
        place = Path(path).expanduser()
        with disk.reporting():
            place.mkdir(parents=True, exist_ok=True)
        try:
            pygit2.init_repository(str(place), bare=bare, initial_head=default_branch)
        except (pygit2.GitError, OSError) as e:
            raise _unreadable(place, e) from e
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
        tip = self.refs.target(f"refs/heads/{rev}") if pygit2.reference_is_valid_name(f"refs/heads/{rev}") else None
        if tip is not None:
            return tip
        try:
            return CommitId(str(self.objects.handle.revparse_single(rev).peel(pygit2.Commit).id))
        except KeyError as e:
            raise RevisionMissing(f"There is no commit or branch {rev}.", hint="`forge log` shows commits.") from e
        except (pygit2.GitError, ValueError, TypeError) as e:
            raise InvalidRevision(f"{rev!r} does not name a commit: {e}", hint="Name a branch or an id.") from e

    def signature(self) -> Signature:
        """The person's name and address as git is configured, now."""
        config = self.objects.handle.config
        name = str(config["user.name"]) if "user.name" in config else "Forge user"
        email = str(config["user.email"]) if "user.email" in config else "forge@localhost"
        now = time.time()
        return Signature(name, email, int(now), (time.localtime(now).tm_gmtoff or 0) // 60)

    # -- files

    def commit_vfs(self, rev: str) -> GitCommitVFS:
        return GitCommitVFS(self.objects, self.resolve(rev))

    def workspace(self, branch: str, *, actor: Actor = PERSON) -> WorkInProgressVFS:
        """A writable view of `branch` as it is now. In an empty repository the first commit makes the branch."""
        if self.refs.tip(branch) is None and not self.is_empty:
            branches.tip_of(self.refs, branch)
        return WorkInProgressVFS(self.objects, self.refs, branch, self.signature, actor=actor)

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
        return branches.rename(self.objects, self.refs, old, new, actor=actor)

    def delete_branch(self, name: str, *, actor: Actor = PERSON) -> Operation:
        return branches.delete(self.objects, self.refs, name, actor=actor)

    def rewind_branch(self, name: str, to: str, *, actor: Actor = PERSON) -> Operation:
        return branches.rewind(self.refs, name, self.resolve(to), actor=actor)

    # -- operations

    def operations(self) -> Iterator[Operation]:
        return branches.operations(self.refs)

    def undo(self, operation_id: str | None = None, *, actor: Actor = PERSON) -> Operation:
        return branches.undo(self.refs, operation_id, actor=actor)


def _common_dir(git_dir: Path) -> Path:
    """Where a linked worktree shares objects and branches with its repository."""
    try:
        pointer = (git_dir / "commondir").read_text().strip()
    except FileNotFoundError:
        return git_dir
    return (git_dir / pointer).resolve()


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
            f"{place} belongs to another user.", hint=f"git config --global --add safe.directory {place}"
        )
    return RepositoryUnreadable(f"{place} cannot be opened: {text}", hint="Run `git fsck` on the repository.")
