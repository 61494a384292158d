"""A branch sent to a remote: its commits as they are, with a summary of their conversation, or without it."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import actor_of, repository
from forge.app.repositories.export import conversation_in, rewritten
from forge.app.repositories.merges import Conversation
from forge.errors import ForgeError, InvalidInput
from forge.git import PERSON, Actor, ActorKind, BranchMoved, CommitId, Repository
from forge.git.history.export import Exported
from forge.git.history.revisions import tip_of
from forge.git.merging.merge_base import merge_bases
from forge.git.objects.raw_object import NewObjects
from forge.git.process import disk
from forge.git.refs.branch_names import branch_ref
from forge.git.remotes.errors import PushDenied
from forge.git.remotes.push import Lease, send
from forge.git.remotes.remotes import Remote, last_seen, remote_named, remotes, seen_branches
from forge.sessions.summary import Brought
from forge.sessions.turn_files import has_turns, state_of

if TYPE_CHECKING:
    from pathlib import Path

    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

__all__ = ["Remote"]


@dataclass(frozen=True, slots=True)
class PushOrder:
    """Which branch to send where, and what of its conversations goes along."""

    source: str
    remote: str | None = None
    """None: the only one, or `origin`."""
    to: str | None = None
    """The branch over there; None: the same name."""
    conversation: Conversation | None = None
    """None: as the last push there; else what `merged_sessions` says for a default branch, and every turn elsewhere."""
    replace: bool = False
    """Replace the branch `to` over there, if it is still where it was last seen."""


@dataclass(frozen=True, slots=True)
class Push:
    """What is sent, or would be."""

    branch: str
    source_tip: CommitId
    remote: str
    url: str
    to: str
    commit: CommitId
    """What the branch over there is then."""
    seen: CommitId | None
    """Where it was when git last looked."""
    replaces: bool
    """Whether what it was is no part of what it will be."""
    rewritten: int
    left_out: int
    conversation: Brought | None
    conversation_choice: Conversation | None
    """None where the branch has no conversation to choose about."""
    state: str = "preview"
    """`created`, `updated`, `replaced` or `unchanged` once it was sent."""
    lease: Lease | None = field(default=None, repr=False)
    new: NewObjects = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What Forge sent there last, so that its own copy can be replaced and the choice need not be made again."""

    source: CommitId
    commit: CommitId
    conversation: Conversation | None


def list_remotes(shop: Workshop, who: Who, repo_id: str) -> tuple[Remote, ...]:
    return remotes(repository(shop, who, repo_id).objects)


def preview_push(shop: Workshop, who: Who, repo_id: str, order: PushOrder) -> Push:
    """Nothing is sent and nobody is asked."""
    return previewed(repository(shop, who, repo_id), order, shop.settings.merged_sessions)


def push_branch(shop: Workshop, who: Who, repo_id: str, order: PushOrder, *, expected: str | None = None) -> Push:
    """Send it with the credentials of this machine. `expected` is the tip of the source that a preview saw."""
    from forge.app.access.identity import audit, require  # noqa: PLC0415 - loads the database

    repo = repository(shop, who, repo_id, "write")
    if not who.is_local:
        require(who, "admin")
    found = previewed(repo, order, shop.settings.merged_sessions)
    if expected is not None and expected != found.source_tip:
        raise BranchMoved(f"{order.source} has moved since the preview was made.", hint="Look at a new preview first.")
    sent = perform(repo, found, actor=actor_of(who))
    audit(shop, who, "branch.push", f"repository:{repo_id}", f"{sent.branch} to {sent.remote}/{sent.to}: {sent.state}")
    return sent


# On an open repository


def previewed(repo: Repository, order: PushOrder, usual: Conversation = "squash") -> Push:
    """What would be sent, as far as this repository knows the other one."""
    tip = tip_of(repo.refs, order.source)
    remote = remote_named(repo.objects, order.remote)
    to = order.to or order.source
    branch_ref(to)
    if order.replace and order.to is None:
        raise InvalidInput("Name the branch that may be replaced.", hint="`--to NAME` (API: `to`).")
    earlier = _earlier(repo, remote, to)
    terms = (
        order.conversation or (earlier and earlier.conversation) or (usual if _is_default(repo, remote, to) else "keep")
    )
    found = Exported(tip, repo.commit(tip).tree, {}, 0, 0)
    if terms != "keep":
        found = rewritten(repo, order.source, tip, terms, beyond=_shared(repo, remote, to))
    commit = found.tip or tip
    along = conversation_in(repo, found)
    seen = last_seen(repo.refs, remote.name, to)
    replaces = seen is not None and not _leads_to(repo, commit, seen)
    is_own = earlier is not None and earlier.commit == seen and _leads_to(repo, tip, earlier.source)
    return Push(
        order.source,
        tip,
        remote.name,
        remote.url,
        to,
        commit,
        seen,
        replaces,
        found.commits,
        found.left_out,
        along,
        terms if along is not None or found.commits or found.left_out else None,
        lease=Lease(seen) if order.replace or (replaces and is_own) else None,
        new=found.new,
    )


def perform(repo: Repository, push: Push, *, actor: Actor = PERSON, may_ask: bool = False) -> Push:
    """Send exactly what the preview showed. Only people push."""
    if actor.kind is not ActorKind.PERSON:
        raise PushDenied(
            f"{actor.kind} {actor.name} may not push.", hint="Look at the branch and push it yourself: `forge push`."
        )
    with repo.objects.writing(push.new):
        sent = send(repo.objects, push.commit, push.remote, push.to, lease=push.lease, may_ask=may_ask)
    _remember(repo, push)
    return replace(push, state=sent.kind)


def _is_default(repo: Repository, remote: Remote, branch: str) -> bool:
    if remote.default_branch is not None:
        return branch == remote.default_branch
    return repo.refs.protected(branch)


def _shared(repo: Repository, remote: Remote, to: str) -> tuple[CommitId, ...]:
    """What stays as it is because others build on it: the remote's default branch and branches without conversation."""
    found = {name: tip for name, tip in seen_branches(repo.refs, remote.name).items() if name != to}
    return tuple(
        tip
        for name, tip in found.items()
        if _is_default(repo, remote, name) or not has_turns(repo.objects, state_of(repo.objects, tip))
    )


def _leads_to(repo: Repository, commit: CommitId, earlier: CommitId) -> bool:
    """Whether `earlier` is part of the history of `commit`, which may not be written yet."""
    if commit == earlier:
        return True
    with suppress(ForgeError):  # what git pruned is no part of anything
        return merge_bases(repo.objects, commit, earlier) == (earlier,)
    return False


def _earlier(repo: Repository, remote: Remote, to: str) -> _Earlier | None:
    try:
        data = json.loads(_record(repo, remote.name, to).read_bytes())
        return _Earlier(CommitId(data["source"]), CommitId(data["commit"]), data["conversation"])
    except (OSError, ValueError, KeyError, TypeError):  # none, or damaged by a power cut: nothing depends on it
        return None


def _remember(repo: Repository, push: Push) -> None:
    path = _record(repo, push.remote, push.to)
    data = {"source": push.source_tip, "commit": push.commit, "conversation": push.conversation_choice}
    with disk.reporting():
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.replace_synced(path, json.dumps({"remote": push.remote, "to": push.to, **data}).encode())


def _record(repo: Repository, remote: str, to: str) -> Path:
    name = hashlib.sha256(f"{remote}\0{to}".encode("utf-8", "surrogateescape")).hexdigest()[:40]
    return repo.common_dir / "forge" / "pushed" / name
