"""Where a repository is, how a new one is made, and why one that is there cannot be opened."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2

from forge.git.errors import RepositoryMissing, RepositoryUnreadable, UnsupportedRepository
from forge.git.process import disk
from forge.git.refs.branch_names import branch_ref

if TYPE_CHECKING:
    from forge.errors import ForgeError


def git_dir_at(path: Path | str) -> Path:
    """The git directory of the repository at or above `path`."""
    place = _place(path)
    try:
        there = place.exists()
    except OSError as e:
        # No file system has a place by such a name.
        family = RepositoryMissing if e.errno == errno.ENAMETOOLONG else RepositoryUnreadable
        raise family(f"{place} cannot be looked at: {e.strerror}.", hint="Check the path.") from e
    if not there:
        raise RepositoryMissing(f"{place} does not exist.", hint="Check the path.")
    with reporting(place):
        found = pygit2.discover_repository(str(place))
    if found is None:
        _refuse_closed(place)
        raise _missing(place)
    return Path(found)


def made_at(path: Path | str, *, bare: bool, default_branch: str) -> Path:
    """The place of a repository that is there from now on, and was perhaps before."""
    place = _place(path)
    branch_ref(default_branch)
    with disk.reporting():
        place.mkdir(parents=True, exist_ok=True)
    with reporting(place):
        made = pygit2.init_repository(str(place), bare=bare, initial_head=default_branch)
    if made.head_is_unborn:
        # The first commit is only as durable as the HEAD and configuration it is found by.
        with disk.reporting():
            disk.sync_tree(Path(made.path))
            disk.sync_directory(place)
    return place


def common_dir(git_dir: Path) -> Path:
    """Where a linked worktree shares objects and branches with its repository."""
    try:
        pointer = (git_dir / "commondir").read_text().strip()
    except FileNotFoundError:
        return git_dir
    return (git_dir / pointer).resolve()


def top(git_dir: Path) -> Path:
    """What a person calls the repository, and git too where it asks whom to trust."""
    return git_dir.parent if git_dir.name == ".git" else git_dir


@contextmanager
def reporting(place: Path) -> Iterator[None]:
    """Why the repository at `place` cannot be opened, in words for a person."""
    try:
        yield
    except (pygit2.GitError, KeyError, OSError) as e:
        raise _unreadable(place, e) from e


def _place(path: Path | str) -> Path:
    if "\0" in str(path):
        raise RepositoryMissing("A path cannot contain a NUL character.", hint="Check the path.")
    try:
        return Path(path).expanduser()
    except RuntimeError:  # `~name` of nobody
        return Path(path)


def _refuse_closed(place: Path) -> None:
    """A `.git` that may not be read is passed over when repositories are looked for, as if it were not there."""
    here = place.absolute()
    for dot_git in (folder / ".git" for folder in (here, *here.parents) if os.path.lexists(folder / ".git")):
        try:
            os.listdir(dot_git)
        except PermissionError as e:
            hint = f"Check who owns it: ls -ld {shlex.quote(str(dot_git))}"
            raise RepositoryUnreadable(f"{dot_git} cannot be read: {e.strerror}.", hint=hint) from e
        except OSError:
            continue


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
