"""Drafts of one person: opened on a branch, changed with CAS, read, listed, forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.errors import InvalidInput, NotFound
from forge.git import Actor, ActorKind, CommitId, RefMove, Repository, Request, Signature, WorkInProgressVFS
from forge.git.refs import drafts, snapshots
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.drafts import Draft

if TYPE_CHECKING:
    from forge.app.access.identity import Who

__all__ = ["Draft"]


class DraftMissing(NotFound):
    """No such draft, or another person's."""

    code = "draft_missing"


class BranchNeeded(InvalidInput):
    """A change needs a branch, and none was named."""

    code = "branch_needed"


@dataclass(frozen=True, slots=True)
class Agent:
    """A program that works for a person. It is never the person: policy treats it as an agent."""

    who: Who
    name: str

    def actor(self, work: str | None = None, *, action: str = "", detail: str = "") -> Actor:
        request = Request(self.who.id, self.who.key, action, detail)
        return Actor(ActorKind.AGENT, self.name, work, request)

    def author(self) -> Signature:
        return Signature(f"Forge ({self.name})", "agent@forge.invalid")

    def person(self, repo: Repository) -> str:
        """The name of whoever the agent works for."""
        return repo.signature().name if self.who.is_local else self.who.name


@dataclass(frozen=True, slots=True)
class Target:
    """Where an agent works: a draft, or a branch, or a commit to read."""

    draft: str | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A draft with its files; `draft` is None until something changed."""

    id: str
    draft: Draft | None
    files: WorkInProgressVFS


def find(repo: Repository, agent: Agent, id_: str) -> Draft:
    """Another person's draft ends exactly like one that does not exist."""
    found = drafts.find(repo.objects, repo.refs, id_)
    if found is None or found.owner != agent.who.id:
        raise DraftMissing(
            f"There is no draft {id_[:40]!r}.",
            hint="It was committed, or not changed for 14 days. Pass a branch to begin a new one.",
        )
    return found


def listed(repo: Repository, agent: Agent) -> tuple[Draft, ...]:
    """Those of this person, newest first."""
    mine = (each for each in drafts.listed(repo.objects, repo.refs) if each.owner == agent.who.id)
    return tuple(sorted(mine, key=lambda each: (-each.changed, each.id)))


def readable(repo: Repository, agent: Agent, target: Target) -> WorkInProgressVFS:
    """The files as they are there; the default branch's where nothing is named."""
    if target.draft is not None:
        draft = find(repo, agent, target.draft)
        return repo.workspace(draft.branch, base=draft.commit)
    name = target.revision or repo.current_branch or repo.default_branch or "HEAD"
    return repo.workspace(name, base=repo.resolve(name))


def writable(repo: Repository, agent: Agent, target: Target) -> Opened:
    """A draft to change: the one named, or a new one on a branch. A branch that is missing is made by the commit."""
    if target.draft is not None:
        draft = find(repo, agent, target.draft)
        files = repo.workspace(draft.branch, base=draft.base, actor=agent.actor(draft.id))
        snapshots.restore(files, draft.commit)
        return Opened(draft.id, draft, files)
    if not target.revision:
        raise BranchNeeded("Name the branch to work on.", hint="A new name makes a branch from the default branch.")
    id_, branch = drafts.new_id(repo.refs), target.revision
    actor = agent.actor(id_)
    base = _base(repo, branch)
    repo.refs.refuse_unless_allowed([RefMove(branch_ref(branch), base, base)], actor)
    return Opened(id_, None, repo.workspace(branch, base=base, actor=actor))


def save(repo: Repository, agent: Agent, opened: Opened) -> Draft:
    """Durable when this returns. `DraftChanged` where another call was faster."""
    before = opened.draft.commit if opened.draft else None
    name = agent.name
    return drafts.save(repo.refs, opened.files, opened.id, owner=agent.who.id, agent=name, before=before)


def forget(repo: Repository, agent: Agent, draft: Draft) -> None:
    drafts.forget(repo.refs, draft, agent.actor(draft.id))


def _base(repo: Repository, branch: str) -> CommitId | None:
    tip = repo.refs.tip(branch)
    if tip is not None or repo.is_empty:
        return tip
    default = repo.default_branch
    return repo.refs.tip(default) if default else None
