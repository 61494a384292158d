"""Repositories that Forge manages: added, listed, forgotten, and opened for every use case that works on one.

As in all modules of this layer that work on repositories, functions are synchronous: they touch git and SQL only, and
a face that must not wait calls them in a thread. What needs the database is loaded when it is used, because a command
on a repository alone has to start at once.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from forge.errors import ForgeError, InvalidInput
from forge.git import PERSON, Actor, ActorKind, CommitId, Operation, RefMove, Repository, Request, Signature
from forge.git.errors import BranchMissing, FileTooLarge, RepositoryMissing
from forge.git.history.revisions import no_head
from forge.git.refs.near_names import did_you_mean
from forge.subjects import Subject, branch_subject, repository_id

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop
    from forge.settings import Settings
    from forge.store.repositories import Repositories, RepositoryRow

__all__ = ["PERSON", "Actor", "ActorKind", "CommitId", "FileTooLarge", "Operation", "RefMove", "Repository"]

_HEADS = "refs/heads/"
_KEPT_OPEN = 32
_LIST_BRANCHES = "`forge branch list` shows what there is."
_ID = re.compile("[0-9a-f]{12}")


class HeadDetached(InvalidInput):
    """The checkout shows a commit that no branch is meant by."""

    code = "head_detached"


@dataclass(frozen=True, slots=True)
class RepositoryEntry:
    id: str
    name: str
    path: str
    default_branch: str | None
    current_branch: str | None
    problem: str | None = None
    """Why it cannot be opened now, if so."""


def list_repositories(shop: Workshop, who: Who) -> tuple[RepositoryEntry, ...]:
    """Those that `who` may see, by name."""
    from forge.app.access import identity  # noqa: PLC0415

    identity.require(who, "read")
    seen = identity.visible(shop, who, "repository")
    return tuple(_entry(row) for row in _rows(shop).list() if seen is None or row.id in seen)


@dataclass(frozen=True, slots=True)
class OfferedRepository:
    """One that is there and that Forge does not manage yet."""

    name: str
    path: str


def offered_repositories(shop: Workshop, who: Who) -> tuple[OfferedRepository, ...]:
    """Those that the person at this machine used on the command line, newest first. Nobody else is told of them."""
    from forge.app.access import identity  # noqa: PLC0415
    from forge.app.repositories.recent import used  # noqa: PLC0415

    identity.require(who, "read")
    if not who.is_local:
        return ()
    known = {row.id for row in _rows(shop).list()}
    found = []
    for id_, place in used(shop.environ):
        if id_ in known:
            continue
        with suppress(ForgeError, OSError, ValueError):
            repo = opened(Path(place))
            if id_of(repo) == id_ and not _is_forges_own(shop, repo):
                found.append(OfferedRepository(_name(place), place))
    return tuple(found)


def add_repository(shop: Workshop, who: Who, path: Path | str) -> RepositoryEntry:
    """Look after the repository at or above `path` from now on; one that is there already is simply shown."""
    return add_new_repository(shop, who, path)[0]


def add_new_repository(shop: Workshop, who: Who, path: Path | str) -> tuple[RepositoryEntry, bool]:
    """The same, and whether it is new here.

    Paths are those of this machine, so only who may administer it names them.
    """
    from forge.app.access import identity  # noqa: PLC0415

    identity.require(who, "admin")
    try:
        repo = Repository.open(Path(path).expanduser().absolute())
    except (ForgeError, OSError, RuntimeError, ValueError) as e:  # the last three: no path that a disk could have
        raise _not_there(who, path, e) from e
    if not who.is_local and _is_forges_own(shop, repo):
        raise _not_there(who, path)
    place, id_ = _unicode(str(repo.work_tree or repo.git_dir).rstrip("/")), id_of(repo)
    # Before it is in the list, where others find it: whatever is done to it from then on is news.
    shop.feed.add(repo)
    is_new = _rows(shop).add(id_, path=place, name=_name(place))
    if is_new:
        identity.record_new(shop, who, "repository", id_)
        identity.audit(shop, who, "repository.add", f"repository:{id_}", place)
        _tell(shop, id_, "added", _name(place))
    elif not identity.may_see(shop, who, "repository", id_):
        raise _not_there(who, path)
    return repository_entry(shop, who, id_), bool(is_new)


def repository_entry(shop: Workshop, who: Who, id_: str) -> RepositoryEntry:
    return _entry(_row(shop, who, id_, "read"))


def repository(shop: Workshop, who: Who, id_: str, scope: str = "read") -> Repository:
    """Open, if `who` may do this with it. Every use case on a repository begins here.

    Whatever a user does with it bears the user's name, not that of who runs the server.
    """
    repo = opened(Path(_row(shop, who, id_, scope).path))
    shop.feed.look(id_, repo)
    return limited(repo if who.is_local else _theirs(repo, who.id, who.name), shop.settings)


def limited(repo: Repository, settings: Settings) -> Repository:
    """The same as the settings want it: refusing files that are too large, with conversations where they belong."""
    most = settings.limits.file_mb
    repo.largest_file = None if most is None else most << 20
    repo.sessions_beside = lambda: settings.sessions == "side-ref"
    return repo


def forget_repository(shop: Workshop, who: Who, id_: str) -> None:
    """Look after it no more. The repository itself stays as it is."""
    from forge.app.access import identity  # noqa: PLC0415

    row = _row(shop, who, id_, "write")
    identity.only_owner(shop, who, "repository", id_)
    _rows(shop).remove(id_)
    shop.feed.forget(id_)
    _tell(shop, id_, "forgotten", row.name)
    identity.forget_owner(shop, "repository", id_)
    identity.audit(shop, who, "repository.forget", f"repository:{id_}", row.path)


def _tell(shop: Workshop, id_: str, what: str, name: str) -> None:
    from forge.events import BOARD, RepositoryChanged  # noqa: PLC0415

    shop.events.publish(BOARD, RepositoryChanged(id_, what, shop.redactor.text(name)))


def is_looked_after(shop: Workshop, id_: str) -> bool:
    return _rows(shop).find(id_) is not None


def id_of(repo: Repository) -> str:
    return repository_id(repo.common_dir)


def subject_of(repo: Repository, branch: str) -> Subject:
    return branch_subject(id_of(repo), branch)


def opened(place: Path) -> Repository:
    """The repository at `place`, kept open in this process.

    What it keeps is found by object ids, and refs are read each time, so other processes may write meanwhile. One
    that was replaced or configured anew is opened again. By its directory and by the one of git in it, it is the same.
    """
    within = place / ".git"
    place = within if within.is_dir() else place
    return _opened(place, _mark(place))


def actor_of(who: Who) -> Actor:
    return Actor(ActorKind.PERSON, who.name, request=Request(who.id, who.key))


def author_of(repo: Repository, who: Who) -> Signature | None:
    """Whose commit it is: a user's own; None where git is configured for the person at this machine."""
    return None if who.is_local else _signature(repo.signature(), who.id, who.name)


def configured_pager(repo: Repository) -> str | None:
    """git's `core.pager`."""
    config = repo.objects.config
    return str(config["core.pager"]) if "core.pager" in config else None


def kept_edits(operation: Operation | None) -> tuple[str, ...]:
    """A sentence for each uncommitted file in a checkout of the branch that is based on the older text."""
    return tuple(own.sentence for update in (operation.checkouts if operation else ()) for own in update.own)


def moved_by(operation: Operation | None) -> dict[str, CommitId | None]:
    """The branches that an operation moved, and where they are now; None: nowhere."""
    moves = operation.moves if operation else ()
    return {move.ref.removeprefix(_HEADS): move.after for move in moves if move.ref.startswith(_HEADS)}


def branch_or_current(repo: Repository, branch: str | None, *, option: str = "--branch") -> str:
    """The branch named, else the one that the checkout shows."""
    current = branch or repo.current_branch
    if current is None:
        hint = f"Make one here with `git switch -c NAME`, or name one with {option}."
        raise HeadDetached("HEAD is not on a branch.", hint=hint)
    return current


def existing_branch(repo: Repository, name: str) -> str:
    """A branch to read from. The one that HEAD names may still wait for its first commit; any other is there or not."""
    if repo.refs.tip(name) is None and (name != repo.current_branch or not repo.is_empty):
        if name == repo.current_branch:
            raise no_head(repo.refs)
        near = did_you_mean(name, [each for each, _ in repo.refs.branches()])
        hint = (
            "No commit is here yet: the first `forge file save` makes one." if repo.is_empty else near + _LIST_BRANCHES
        )
        raise BranchMissing(f"There is no branch {name}.", hint=hint)
    return name


def _signature(usual: Signature, user: str, name: str) -> Signature:
    return replace(usual, name=name, email=f"{user}@forge.invalid")


class _Theirs(Repository):
    """A repository as one user works with it; all it has and keeps is that of the repository itself."""

    def __init__(self, repo: Repository, user: str, name: str) -> None:
        self.__dict__.update(repo.__dict__)
        self._user = (user, name)

    def signature(self) -> Signature:
        return _signature(super().signature(), *self._user)


@lru_cache(maxsize=_KEPT_OPEN * 8)
def _theirs(repo: Repository, user: str, name: str) -> Repository:
    return _Theirs(repo, user, name)


@lru_cache(maxsize=_KEPT_OPEN)
def _opened(place: Path, mark: tuple[int, int]) -> Repository:
    del mark
    return Repository.open(place)


def _mark(place: Path) -> tuple[int, int]:
    """Changes when another repository has come to be at `place`, or its configuration changed."""
    for file in (place / ".git", place / "config"):
        with suppress(OSError):
            found = file.stat()
            return found.st_ino, found.st_mtime_ns
    return 0, 0


def _rows(shop: Workshop) -> Repositories:
    from forge.store.repositories import Repositories  # noqa: PLC0415

    return Repositories(shop.database)


def _row(shop: Workshop, who: Who, id_: str, scope: str) -> RepositoryRow:
    from forge.app.access import identity  # noqa: PLC0415

    identity.require(who, scope)
    if not _ID.fullmatch(id_):
        raise identity.missing("repository", id_)
    identity.owned(shop, who, "repository", id_, scope)
    row = _rows(shop).find(id_)
    if row is None:
        raise identity.missing("repository", id_)
    return row


def _entry(row: RepositoryRow) -> RepositoryEntry:
    try:
        repo = opened(Path(row.path))
        return RepositoryEntry(row.id, row.name, row.path, repo.default_branch, repo.current_branch)
    except ForgeError as e:
        return RepositoryEntry(row.id, row.name, row.path, None, None, e.message)


def _is_forges_own(shop: Workshop, repo: Repository) -> bool:
    """Below the workspace or the data directory: projects with their histories, and what they build, are somebody's."""
    kept = [os.path.realpath(each) for each in (shop.settings.workspace, shop.settings.data_dir)]
    places = [os.path.realpath(each) for each in (repo.work_tree, repo.git_dir, repo.common_dir) if each is not None]
    return any(Path(place).is_relative_to(each) for place in places for each in kept)


def _name(place: str) -> str:
    name = Path(place).name
    return Path(place).parent.name if name == ".git" else name.removesuffix(".git") or name


def _unicode(place: str) -> str:
    try:
        place.encode()
    except UnicodeEncodeError as e:
        raise InvalidInput("The path is not Unicode.", hint="Rename the folder.") from e
    return place


def _not_there(who: Who, path: Path | str, error: Exception | None = None) -> ForgeError:
    """A user is not told what else is on this machine."""
    if who.is_local and isinstance(error, ForgeError):
        return error
    return RepositoryMissing(f"There is no repository at {path} for you.", hint="Check the path.")
