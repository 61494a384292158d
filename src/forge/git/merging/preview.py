"""What a merge, rebase or cherry-pick would give, as a value: seen first, then performed exactly so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.errors import BranchMoved, FileMissing, MergeConflicts
from forge.git.history.revisions import tip_of
from forge.git.merging.conflict import Conflict, Resolution, TreeMerge
from forge.git.objects.extra_objects import beyond
from forge.git.objects.tree_diff import changed_entries
from forge.git.values import Actor, CommitId, Entry, ObjectId
from forge.git.workspace.pending import Change

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.objects.raw_object import NewObjects
    from forge.git.refs.operations.operation import Operation
    from forge.git.refs.ref_store import Refs

Resolutions = Mapping[str, Resolution]
"""Contents by conflicted path."""

StepResolutions = Mapping[CommitId, Resolutions]
"""For a chain of commits: resolutions by the original commit that they belong to."""


class MergeKind(StrEnum):
    MERGE = "merge"
    REBASE = "rebase"
    CHERRY_PICK = "cherry-pick"


class MergeOutcome(StrEnum):
    UP_TO_DATE = "up to date"
    FAST_FORWARD = "fast-forward"
    CLEAN = "clean"
    CONFLICTS = "conflicts"


class StepState(StrEnum):
    PICKED = "picked"
    DROPPED = "dropped"
    """Nothing of it is left: its change is there already, or it holds only a conversation that is left out."""
    STOPPED = "stopped"
    """Its conflicts wait to be resolved."""
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one commit of a chain."""

    original: CommitId
    state: StepState
    result: CommitId | None = None


@dataclass(frozen=True, slots=True)
class ChangedFile:
    path: str
    change: Change
    old: Entry | None
    new: Entry | None


@dataclass(frozen=True, slots=True)
class MergePreview:
    kind: MergeKind
    outcome: MergeOutcome
    target: str
    """The branch that would move, and where it is now."""
    target_tip: CommitId
    sources: tuple[CommitId, ...]
    result: CommitId | None
    """Where the branch would be after it; None while there are conflicts."""
    tree: ObjectId
    """The files of the result; with conflict markers while there are conflicts."""
    files: tuple[ChangedFile, ...]
    """What would change on the branch."""
    reason: str
    conflicts: tuple[Conflict, ...] = ()
    messages: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    has_conversation: bool = False
    """Whether what comes in has a conversation, which can be left out."""
    new: NewObjects = field(default_factory=dict, repr=False, compare=False)
    made: tuple[CommitId, ...] = field(default=(), repr=False)
    """The commits that do not exist yet, oldest first."""
    resume: Callable[[Objects, StepResolutions], MergePreview] | None = field(default=None, repr=False, compare=False)

    def view(self, objects: Objects) -> Objects:
        """The repository's objects as if this were performed."""
        return objects.with_new(self.new)

    def read(self, objects: Objects, path: str) -> bytes:
        """The content of a file in the result."""
        view = self.view(objects)
        found = view.entry(self.tree, path)
        if found is None or found.is_tree or found.is_submodule:
            raise FileMissing(f"The result has no file {path}.", hint="`files` lists what changes.")
        return view.blob(found.id)

    def resolved(self, objects: Objects, resolutions: Resolutions | StepResolutions) -> MergePreview:
        """This preview with contents given for conflicted paths; a chain continues to its next stop."""
        if not resolutions:
            return self
        if self.resume is None:
            raise InvalidInput("Nothing is in conflict here.", hint="Perform it without resolutions.")
        steps: dict[CommitId, Resolutions] = {}
        for key, value in resolutions.items():
            if isinstance(value, Mapping):
                steps[CommitId(key)] = value
            else:
                # A path by itself belongs to the conflicts that this preview shows.
                steps[self.stopped_at] = {**steps.get(self.stopped_at, {}), key: value}
        return self.resume(objects, steps)

    @property
    def stopped_at(self) -> CommitId:
        """The commit whose change is in conflict."""
        return next((step.original for step in self.steps if step.state is StepState.STOPPED), self.sources[0])


def changed_files(objects: Objects, old: ObjectId, merged: TreeMerge) -> tuple[ChangedFile, ...]:
    changed = merged.changed if merged.changed is not None else changed_entries(objects, old, merged.tree)
    return tuple(ChangedFile(path, _change(before, after), before, after) for path, before, after in changed)


def _change(before: Entry | None, after: Entry | None) -> Change:
    if before is None:
        return Change.ADDED
    return Change.DELETED if after is None else Change.MODIFIED


def perform(
    objects: Objects,
    refs: Refs,
    preview: MergePreview,
    *,
    actor: Actor,
    resolutions: Resolutions | StepResolutions | None = None,
) -> Operation | None:
    """Make the branch what `preview` shows, if it is still where the preview saw it. None: nothing to do."""
    if resolutions:
        preview = preview.resolved(objects, resolutions)
    if preview.result is None:
        raise _conflicts(preview)
    if tip_of(refs, preview.target) != preview.target_tip:
        raise BranchMoved(
            f"{preview.target} has moved since the preview was made.", hint="Look at a new preview first."
        )
    if preview.result == preview.target_tip:
        return None
    return refs.land(
        preview.target,
        preview.result,
        _landing(objects, preview),
        before=preview.target_tip,
        actor=actor,
        reason=preview.reason,
        forward=preview.kind is not MergeKind.REBASE or preview.outcome is MergeOutcome.FAST_FORWARD,
    )


def _landing(objects: Objects, preview: MergePreview) -> NewObjects:
    """Everything that the new commits need and their parents do not have."""
    view = preview.view(objects)
    found: NewObjects = {}
    for made in preview.made:
        commit = view.commit(made)
        found |= beyond(view, commit.tree, [view.commit(parent).tree for parent in commit.parents])
        found[ObjectId(made)] = view.read(made)
    return found


def _conflicts(preview: MergePreview) -> MergeConflicts:
    paths = [conflict.path for conflict in preview.conflicts]
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    where = f" at commit {preview.stopped_at[:12]}" if preview.steps else ""
    return MergeConflicts(
        f"The {preview.kind} has conflicts{where} in {', '.join(paths[:5])}{more}; nothing was changed.",
        hint="Give the content that each of these files shall have.",
    )
