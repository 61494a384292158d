"""Branches: listed with what a person wants to know of them, made, forked, renamed, rewound, deleted.

Functions on a `Repository` serve every face; those that take a workshop check what the person may do, and tell others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import actor_of, kept_edits, moved_by, repository
from forge.app.values.pages import Page, checked
from forge.errors import Conflict, NotFound, Upstream
from forge.git import PERSON, Actor, Branch, Commit, CommitId, Operation, Repository
from forge.git.checkout.checkouts import branches_checked_out
from forge.git.history import revisions
from forge.git.history.commit_log import ahead_behind
from forge.git.objects.object_store import Objects
from forge.git.refs.damage import damage_at
from forge.git.refs.reservations import Reservation, reservations
from forge.sessions.conversation import read_head
from forge.sessions.marks import copy_marks, drop_marks, move_marks
from forge.sessions.places import FOLDER as SESSIONS_BESIDE
from forge.sessions.turn_files import has_turns, state_of

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

_AI_PREFIXES = ("ai/", "forge/")
_BY_AN_AGENT = "\nForge-Turn: "


@dataclass(frozen=True, slots=True)
class Busy:
    """Somebody is working on the branch: nobody else can change it until they are done."""

    turn: str
    who: str
    since: float


@dataclass(frozen=True, slots=True)
class BranchEntry:
    name: str
    commit: str
    subject: str
    """This and the next two are empty where the commit cannot be read."""
    author: str
    time: float
    is_default: bool
    protected: bool
    checked_out: bool
    ai: bool
    """Whether agents work here: it has a conversation, an agent's commit at its tip, or a name for such work."""
    busy: Busy | None
    damage: str | None = None
    """What is wrong, where the branch cannot be read."""
    details: BranchDetails | None = None
    """Only where they were asked for."""


@dataclass(frozen=True, slots=True)
class BranchDetails:
    turns: int
    cost: float | None
    """Of its conversation, in dollars; None where no price is known."""
    ahead: int
    """Commits that the default branch has not."""
    behind: int


@dataclass(frozen=True, slots=True)
class KeptTip:
    """Where a deleted, rewound or rebased branch was."""

    name: str
    commit: str
    subject: str


@dataclass(frozen=True, slots=True)
class BranchMade:
    name: str
    commit: str


@dataclass(frozen=True, slots=True)
class BranchMove:
    """What became of a branch. `name` is what it is called now."""

    name: str
    commit: str | None
    operation: str
    kept_edits: tuple[str, ...] = ()
    """Sentences about uncommitted files in people's checkouts that are based on the older text."""


def list_branches(
    shop: Workshop,
    who: Who,
    repo_id: str,
    *,
    prefix: str = "",
    details: bool = False,
    after: str | None = None,
    limit: int = 200,
) -> Page[BranchEntry]:
    """By name. `after` is the name of the last one that is known."""
    count = checked(limit)
    repo = repository(shop, who, repo_id)
    known = repo.refs.branches(damaged=True)
    found = list(islice((each for each in known if each[0].startswith(prefix) and each[0] > (after or "")), count + 1))
    items = _entries(repo, found[:count])
    if details:
        items = tuple(_detailed(shop, repo, each) for each in items)
    return Page(items, items[-1].name if len(found) > count else None)


def branch_entry(shop: Workshop, who: Who, repo_id: str, name: str, *, details: bool = False) -> BranchEntry:
    repo = repository(shop, who, repo_id)
    entry = _entries(repo, [(name, tip_of(repo, name))])[0]
    return _detailed(shop, repo, entry) if details else entry


def list_kept(
    shop: Workshop, who: Who, repo_id: str, *, limit: int = 200, abandoned: bool = False
) -> tuple[KeptTip, ...]:
    repo = repository(shop, who, repo_id)
    return tuple(islice(kept(repo, abandoned=abandoned), checked(limit)))


def create_branch(shop: Workshop, who: Who, repo_id: str, name: str, start: str = "HEAD") -> BranchMade:
    repo = repository(shop, who, repo_id, "write")
    return _made(shop, repo, create(repo, name, start, actor=actor_of(who)), name)


def fork_branch(shop: Workshop, who: Who, repo_id: str, source: str, name: str) -> BranchMade:
    """With its conversation."""
    repo = repository(shop, who, repo_id, "write")
    tip = fork(repo, source, name, actor=actor_of(who))
    return _made(shop, repo, tip, name)


def rename_branch(shop: Workshop, who: Who, repo_id: str, old: str, new: str) -> BranchMove:
    repo = repository(shop, who, repo_id, "write")
    return _moved(shop, repo, rename(repo, old, new, actor=actor_of(who)), name=new)


def rewind_branch(shop: Workshop, who: Who, repo_id: str, name: str, to: str) -> BranchMove:
    """What came after `to` stays reachable."""
    repo = repository(shop, who, repo_id, "write")
    return _moved(shop, repo, rewind(repo, name, to, actor=actor_of(who)), name=name)


def delete_branch(shop: Workshop, who: Who, repo_id: str, name: str) -> BranchMove:
    """Its tip is kept."""
    repo = repository(shop, who, repo_id, "write")
    return _moved(shop, repo, delete(repo, name, actor=actor_of(who)), name=name)


# On an open repository


def listed(repo: Repository) -> tuple[BranchEntry, ...]:
    """Every branch, by name."""
    return _entries(repo, list(repo.refs.branches(damaged=True)))


def last_commit(repo: Repository, branch: Branch) -> Commit | None:
    """None where the repository is damaged: the other branches are listed all the same."""
    try:
        return repo.objects.commit(branch.tip) if branch.tip else None
    except (NotFound, Upstream):
        return None


def kept(repo: Repository, *, abandoned: bool = False) -> Iterator[KeptTip]:
    """With `abandoned` only those that nothing else leads to."""
    for name, tip in repo.kept(abandoned=abandoned):
        with suppress(NotFound, Upstream):  # one that cannot be read hides no other
            yield KeptTip(name, tip, repo.objects.commit(tip).subject)


def tip_of(repo: Repository, name: str) -> CommitId:
    """`BranchMissing` where there is none."""
    return revisions.tip_of(repo.refs, name)


def create(repo: Repository, name: str, start: str = "HEAD", *, actor: Actor = PERSON) -> CommitId:
    tip = repo.create_branch(name, start, actor=actor.doing("branch.create", ""))
    drop_marks(repo.common_dir, name)
    return tip


def fork(repo: Repository, source: str, name: str, *, actor: Actor = PERSON) -> CommitId:
    tip = repo.fork_branch(source, name, actor=actor.doing("branch.create", ""))
    copy_marks(repo.common_dir, source, name)
    return tip


def rename(repo: Repository, old: str, new: str, *, actor: Actor = PERSON) -> Operation:
    operation = repo.rename_branch(old, new, actor=actor.doing("branch.rename", ""))
    move_marks(repo.common_dir, old, new)
    return operation


def rewind(repo: Repository, name: str, to: str, *, actor: Actor = PERSON) -> Operation:
    return repo.rewind_branch(name, to, actor=actor.doing("branch.rewind", ""))


def delete(repo: Repository, name: str, *, actor: Actor = PERSON) -> Operation:
    operation = repo.delete_branch(name, actor=actor.doing("branch.delete", ""))
    drop_marks(repo.common_dir, name)
    return operation


def _entries(repo: Repository, found: Sequence[tuple[str, CommitId]]) -> tuple[BranchEntry, ...]:
    """What is the same for all is looked up once, and the rest only for those that are shown."""
    default = repo.default_branch
    here = branches_checked_out(repo.objects)
    working = {held.branch: held for held in reservations(repo.common_dir)}
    shown = (
        Branch(name, tip, name == default, repo.refs.protected(name), name in here, damage_at(repo.objects, tip))
        for name, tip in found
    )
    return tuple(_entry(repo, each, working.get(each.name)) for each in shown)


def _entry(repo: Repository, branch: Branch, held: Reservation | None) -> BranchEntry:
    commit, ai, damage = last_commit(repo, branch), False, branch.damage
    try:
        ai = commit is not None and not branch.default and _is_for_agents(repo, branch.name, commit, held)
    except (NotFound, Upstream) as e:  # its commit is there and its files are not
        damage = damage or e.message
    return BranchEntry(
        name=branch.name,
        commit=branch.tip,
        subject=commit.subject if commit else "",
        author=commit.author.name if commit else "",
        time=float(commit.committer.time) if commit else 0.0,
        is_default=branch.default,
        protected=branch.protected,
        checked_out=branch.checked_out,
        ai=ai,
        busy=None if held is None else Busy(held.holder, held.who, held.since),
        damage=damage,
    )


def _detailed(shop: Workshop, repo: Repository, entry: BranchEntry) -> BranchEntry:
    """Without details where the branch cannot be read: the others are listed all the same."""
    from forge.app.sessions.conversation import sessions_of  # noqa: PLC0415

    sessions = sessions_of(repo, shop.settings)
    default = repo.refs.tip(repo.default_branch) if repo.default_branch else None
    try:
        head = read_head(sessions.files(entry.name, sessions.at(entry.name)))
        ahead, behind = _apart(repo.objects, CommitId(entry.commit), default) if default else (0, 0)
    except (NotFound, Upstream, Conflict):
        return entry
    return replace(entry, details=BranchDetails(head.turns, head.usage.cost, ahead, behind))


# Between two commits it is the same for ever, and a list asks for many at once.
@lru_cache(maxsize=4096)
def _apart(objects: Objects, ours: CommitId, theirs: CommitId) -> tuple[int, int]:
    return (0, 0) if ours == theirs else ahead_behind(objects, ours, theirs)


def _is_for_agents(repo: Repository, name: str, commit: Commit, held: Reservation | None) -> bool:
    if held is not None or name.startswith(_AI_PREFIXES) or _BY_AN_AGENT in commit.message:
        return True
    if has_turns(repo.objects, state_of(repo.objects, commit.id)):
        return True
    return repo.refs.target(SESSIONS_BESIDE + name) is not None


def _made(shop: Workshop, repo: Repository, tip: CommitId, name: str) -> BranchMade:
    shop.feed.publish(repo)
    return BranchMade(name, tip)


def _moved(shop: Workshop, repo: Repository, operation: Operation, *, name: str) -> BranchMove:
    shop.feed.publish(repo)
    return BranchMove(name, moved_by(operation).get(name), operation.id, kept_edits(operation))
