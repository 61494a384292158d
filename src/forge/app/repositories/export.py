"""A copy of a branch that can be given away: the same work with its conversations, with a summary, or without them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from forge.app.repositories.catalog import actor_of, repository
from forge.app.repositories.merges import Conversation
from forge.errors import Conflict
from forge.git import PERSON, Actor, BranchMoved, CommitId, Operation, Repository
from forge.git.errors import BranchExists
from forge.git.history.export import Exported, without_sessions
from forge.git.history.revisions import tip_of
from forge.git.objects.raw_object import NewObjects
from forge.sessions.summary import Brought, brought, summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

_FORGE = ".forge"


class NothingToExport(Conflict):
    code = "nothing_to_export"


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """Which branch to copy to which new name, and what of its conversations the copy has."""

    source: str
    name: str
    conversation: Conversation | None = None
    """None: what `merged_sessions` says."""


@dataclass(frozen=True, slots=True)
class Export:
    """What the copy is, or would be."""

    branch: str
    source: str
    source_tip: CommitId
    commit: CommitId
    tree: str
    rewritten: int
    left_out: int
    """Commits that held nothing but conversation."""
    conversation: Brought | None
    """What the copy has of conversations."""
    conversation_choice: Conversation | None
    """None where the branch has no conversation to choose about."""
    new: NewObjects = field(repr=False, compare=False)


def preview_export(shop: Workshop, who: Who, repo_id: str, order: ExportOrder) -> Export:
    """Nothing is written."""
    return previewed(repository(shop, who, repo_id), order, shop.settings.merged_sessions)


def export_branch(shop: Workshop, who: Who, repo_id: str, order: ExportOrder, *, expected: str | None = None) -> Export:
    """Make the copy. `expected` is the tip of the source that a preview saw."""
    repo = repository(shop, who, repo_id, "write")
    found = previewed(repo, order, shop.settings.merged_sessions)
    if expected is not None and expected != found.source_tip:
        raise BranchMoved(f"{order.source} has moved since the preview was made.", hint="Look at a new preview first.")
    perform(repo, found, actor=actor_of(who))
    shop.feed.publish(repo)
    return found


# On an open repository


def previewed(repo: Repository, order: ExportOrder, usual: Conversation = "squash") -> Export:
    """What the copy would be. The branch itself stays as it is."""
    tip = tip_of(repo.refs, order.source)
    if repo.refs.tip(order.name) is not None:
        raise BranchExists(f"{order.name} exists already.", hint="Choose another name.")
    terms = order.conversation or usual
    without = rewritten(repo, order.source, tip, "drop" if terms == "keep" else terms)
    had = bool(without.commits or without.left_out)
    found = without if terms != "keep" else Exported(tip, repo.commit(tip).tree, {}, 0, 0)
    if found.tip is None or found.tree is None:
        raise NothingToExport(f"{order.source} holds nothing but conversation.", hint="There is nothing to export.")
    return Export(
        order.name,
        order.source,
        tip,
        found.tip,
        found.tree,
        found.commits,
        found.left_out,
        conversation_in(repo, found),
        terms if had else None,
        found.new,
    )


def perform(repo: Repository, export: Export, *, actor: Actor = PERSON) -> Operation:
    """Make the branch exactly as the preview showed it."""
    how = {"keep": "with conversations", "squash": "with a summary of its conversation", "drop": "without sessions"}
    reason = f"export {export.source} {how[export.conversation_choice or 'drop']}"
    by = actor.doing("branch.export", "")
    return repo.refs.land(export.branch, export.commit, export.new, before=None, actor=by, reason=reason)


def bundle(repo: Repository, branch: str, path: Path) -> None:
    """Write `branch` into a file that `git clone` and `git fetch` read."""
    repo.objects.git.run("bundle", "create", str(path.absolute()), f"refs/heads/{branch}")


def rewritten(
    repo: Repository,
    source: str,
    tip: CommitId,
    terms: Literal["squash", "drop"],
    *,
    beyond: Sequence[CommitId] = (),
) -> Exported:
    """The commits of a branch without its conversations; those that lead to one of `beyond` stay as they are."""
    history = list(repo.log(tip, order="topo", exclude=list(beyond)))
    instead = summary(repo.objects, tip, source) if terms == "squash" else None
    return without_sessions(repo.objects, reversed(history), instead)


def conversation_in(repo: Repository, found: Exported) -> Brought | None:
    view = repo.objects.with_new(found.new)
    folder = view.entry(found.tree, _FORGE) if found.tree else None
    if folder is None or not folder.is_tree:
        return None
    return brought(f"{_FORGE}/{path}" for path in view.paths(folder.id))
