"""Bringing work together: merges, rebases and copies of commits, seen first and then performed exactly so.

Functions on a `Repository` serve every face; those that take a workshop check what the person may do, and tell others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal, assert_never

from forge.app.repositories.catalog import actor_of, kept_edits, repository
from forge.app.repositories.diff import without_sessions
from forge.app.values.pages import Page, checked
from forge.errors import InvalidInput
from forge.git import PERSON, Actor, BranchMoved, Entry, MergePreview, MergeState, Operation, Repository
from forge.git.history.revisions import branch_tip
from forge.git.merging.conflict import Conflict
from forge.git.merging.merge_base import merge_bases
from forge.git.merging.preview import MergeKind, MergeOutcome, Resolutions, StepResolutions, StepState
from forge.git.objects.object_store import Objects
from forge.git.workspace.pending import Change
from forge.sessions.summary import Brought, brought, summary

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

__all__ = ["Entry", "MergeKind", "MergePreview", "MergeState"]

Conversation = Literal["keep", "squash", "drop"]
_MOST_FILES = 1000
_LONGEST_SIDE = 500_000


@dataclass(frozen=True, slots=True)
class MergeOrder:
    """What to bring where. A merge has one source; commits are copied in the order given; a rebase goes onto it."""

    kind: MergeKind
    target: str
    sources: tuple[str, ...]
    message: str | None = None
    no_ff: bool = False
    mainline: int | None = None
    record_origin: bool = False
    first: str | None = None
    """Of a rebase: the commit that it begins with."""
    conversation: Conversation | None = None
    """What of the conversations that come in comes along. None: see `terms`."""


@dataclass(frozen=True, slots=True)
class SideView:
    mode: str
    id: str
    text: str | None
    """None where it is no text, or longer than a screen can show."""


@dataclass(frozen=True, slots=True)
class ConflictView:
    path: str
    kind: str
    base: SideView | None
    ours: SideView | None
    theirs: SideView | None
    marked: str | None
    """With conflict markers, where it is text."""


@dataclass(frozen=True, slots=True)
class FileView:
    path: str
    change: Change
    old_id: str | None
    new_id: str | None


@dataclass(frozen=True, slots=True)
class StepView:
    original: str
    subject: str
    state: StepState
    result: str | None


@dataclass(frozen=True, slots=True)
class MergeView:
    kind: MergeKind
    outcome: MergeOutcome
    target: str
    target_tip: str
    """Hand it in as `expected` to perform what was seen, and nothing else."""
    sources: tuple[str, ...]
    result: str | None
    """None while there are conflicts."""
    reason: str
    files: tuple[FileView, ...]
    truncated: bool
    """Whether `files` are only the first ones."""
    conflicts: tuple[ConflictView, ...]
    stopped_at: str | None
    """The commit of a chain whose conflicts these are."""
    steps: tuple[StepView, ...]
    messages: tuple[str, ...]
    conversation: Brought | None = None
    """What comes along of conversations; their files are not among `files`."""
    conversation_removed: Brought | None = None
    """What the branch loses of its own conversation: a rebase can leave it out."""
    conversation_choice: Conversation | None = None
    """What this preview brings of the conversation that comes in; None where there is none to choose about."""


@dataclass(frozen=True, slots=True)
class Merged:
    """With conflicts left, or nothing to do, there is no operation."""

    view: MergeView
    performed: bool
    operation: str | None
    kept_edits: tuple[str, ...] = ()
    """Sentences about uncommitted files in people's checkouts that are based on the older text."""


@dataclass(frozen=True, slots=True)
class Indicator:
    branch: str
    state: MergeState
    paths: tuple[str, ...]
    """The files in conflict."""


Seen = tuple[str | None, str | None]
"""The target's tip and the last source of a preview; None: whatever it is."""


def preview_merge(
    shop: Workshop,
    who: Who,
    repo_id: str,
    order: MergeOrder,
    *,
    resolutions: Resolutions | StepResolutions | None = None,
) -> MergeView:
    """What it would give. No branch is moved."""
    repo = repository(shop, who, repo_id)
    order = with_terms(repo, order, shop.settings.merged_sessions)
    preview = resolved(repo, previewed(repo, order), resolutions)
    _hold_what_no_branch_names(repo, order, preview)
    return view_of(repo, preview, order.conversation)


def perform_merge(
    shop: Workshop,
    who: Who,
    repo_id: str,
    order: MergeOrder,
    *,
    expected: MergeView | Seen | None = None,
    resolutions: Resolutions | StepResolutions | None = None,
) -> Merged:
    """Do it, unless conflicts are left. `expected` is the view, or what of it was seen."""
    repo = repository(shop, who, repo_id, "write")
    order = with_terms(repo, order, shop.settings.merged_sessions)
    preview = resolved(repo, previewed(repo, order), resolutions)
    if expected is not None:
        _refuse_unseen(preview, expected)
    operation = perform(repo, preview, actor=actor_of(who))
    shop.feed.publish(repo)
    made = operation.id if operation else None
    view = view_of(repo, preview, order.conversation)
    return Merged(view, operation is not None, made, kept_edits(operation))


def indicators(
    shop: Workshop,
    who: Who,
    repo_id: str,
    target: str,
    *,
    branches: Sequence[str] | None = None,
    after: str | None = None,
    limit: int = 100,
) -> Page[Indicator]:
    """For each branch, or those named, whether it would merge cleanly into `target`. By name, in pages."""
    count = checked(limit)
    repo = repository(shop, who, repo_id)
    known = sorted(branches if branches is not None else (name for name, _ in repo.refs.branches()))
    names = list(islice((name for name in known if name != target and name > (after or "")), count + 1))
    found = repo.merge_status(names[:count], target)
    items = tuple(Indicator(name, status.state, status.paths) for name, status in found.items())
    return Page(items, names[count - 1] if len(names) > count else None)


# On an open repository


def with_terms(repo: Repository, order: MergeOrder, usual: Conversation = "squash") -> MergeOrder:
    """The order with what it brings of conversations: everything, and onto a default branch what `usual` says.

    A rebase moves a branch's own commits, which keep what they have. Only where the branch just follows is it a merge.
    """
    if order.conversation is not None:
        return order
    limited = repo.refs.protected(order.target) and (order.kind is not MergeKind.REBASE or _follows(repo, order))
    return replace(order, conversation=usual if limited else "keep")


def previewed(repo: Repository, order: MergeOrder) -> MergePreview:
    if not order.sources or (len(order.sources) > 1 and order.kind is not MergeKind.CHERRY_PICK):
        raise InvalidInput(f"A {order.kind} takes one commit or branch.", hint="Name one source.")
    instead = _instead(repo, with_terms(repo, order))
    match order.kind:
        case MergeKind.MERGE:
            return repo.preview_merge(
                order.sources[0], order.target, message=order.message, no_ff=order.no_ff, instead=instead
            )
        case MergeKind.REBASE:
            return repo.preview_rebase(order.target, order.sources[0], first=order.first, instead=instead)
        case MergeKind.CHERRY_PICK:
            return repo.preview_cherry_pick(
                order.sources,
                order.target,
                mainline=order.mainline,
                record_origin=order.record_origin,
                instead=instead,
            )
        case _:
            assert_never(order.kind)


def _follows(repo: Repository, order: MergeOrder) -> bool:
    """Whether the target has nothing of its own beyond what it is rebased onto."""
    tip = repo.resolve(order.target)
    return merge_bases(repo.objects, tip, repo.resolve(order.sources[0])) == (tip,)


def _hold_what_no_branch_names(repo: Repository, order: MergeOrder, preview: MergePreview) -> None:
    """A person looks at it and may confirm it an hour later. A source that is named by its branch is read again then;
    of one that is named by its id, nothing may be left by then.
    """
    named = {branch_tip(repo.refs, name) for name in order.sources}
    for commit in preview.sources:
        if commit not in named:
            repo.refs.held.shown(commit)


def _instead(repo: Repository, order: MergeOrder) -> dict[str, bytes] | None:
    """What comes in place of the conversations; None: they come as they are."""
    if order.conversation != "squash":
        return {} if order.conversation == "drop" else None
    own = order.kind is MergeKind.REBASE and not _follows(repo, order)
    for source in (order.target,) if own else reversed(order.sources):
        if found := summary(repo.objects, repo.resolve(source), repo.commit_vfs(source).branch):
            return found
    return {}


def brought_along(preview: MergePreview) -> Brought | None:
    """The files of conversations that the result has and the target has not."""
    return brought(file.path for file in preview.files if file.new is not None)


def taken_away(preview: MergePreview) -> Brought | None:
    """The files of conversations that the target has and the result has not."""
    return brought(file.path for file in preview.files if file.new is None)


def resolved(
    repo: Repository, preview: MergePreview, resolutions: Resolutions | StepResolutions | None
) -> MergePreview:
    """With contents given for paths in conflict: by path, or for a chain by commit and path."""
    return preview.resolved(repo.objects, resolutions) if resolutions else preview


def perform(repo: Repository, preview: MergePreview, *, actor: Actor = PERSON) -> Operation | None:
    """None where conflicts wait for a person, or nothing is to do."""
    by = actor.doing(f"merge.{preview.kind}", preview.reason)
    return None if preview.conflicts else repo.perform(preview, actor=by)


def view_of(repo: Repository, preview: MergePreview, terms: Conversation | None = None) -> MergeView:
    """`terms` are those that the preview was made with."""
    every = without_sessions(preview.files)
    files = every[:_MOST_FILES]
    return MergeView(
        kind=preview.kind,
        outcome=preview.outcome,
        target=preview.target,
        target_tip=preview.target_tip,
        sources=preview.sources,
        result=preview.result,
        reason=preview.reason,
        files=tuple(FileView(each.path, each.change, _id(each.old), _id(each.new)) for each in files),
        truncated=len(files) < len(every),
        conflicts=tuple(_conflict(preview.view(repo.objects), each) for each in preview.conflicts),
        stopped_at=preview.stopped_at if preview.conflicts and preview.steps else None,
        steps=tuple(
            StepView(each.original, repo.commit(each.original).subject, each.state, each.result)
            for each in preview.steps
        ),
        messages=preview.messages,
        conversation=brought_along(preview),
        conversation_removed=taken_away(preview),
        conversation_choice=terms if preview.has_conversation else None,
    )


def _refuse_unseen(preview: MergePreview, expected: MergeView | Seen) -> None:
    seen = (expected.target_tip, expected.sources[-1]) if isinstance(expected, MergeView) else expected
    found = ((preview.target, preview.target_tip), ("What is to be merged", preview.sources[-1]))
    for known, (what, now) in zip(seen, found, strict=True):
        if known is not None and known != now:
            raise BranchMoved(f"{what} has moved since the preview was made.", hint="Look at a new preview first.")


def _conflict(objects: Objects, conflict: Conflict) -> ConflictView:
    marked = None if conflict.marked is None or b"\0" in conflict.marked else conflict.marked.decode("utf-8", "replace")
    base, ours, theirs = (_side(objects, side) for side in (conflict.base, conflict.ours, conflict.theirs))
    return ConflictView(conflict.path, conflict.kind, base, ours, theirs, marked)


def _side(objects: Objects, entry: Entry | None) -> SideView | None:
    if entry is None:
        return None
    data = None if entry.is_tree or entry.is_submodule else objects.blob(entry.id)
    shown = data is not None and b"\0" not in data and len(data) <= _LONGEST_SIDE
    text = data.decode("utf-8", "replace") if data is not None and shown else None
    return SideView(f"{entry.mode:06o}", entry.id, text)


def _id(entry: Entry | None) -> str | None:
    return entry.id if entry else None
