"""Replays a chain of commits on top of another commit, in memory, up to the first conflict that is not settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.errors import InvalidRevision
from forge.git.merging.conflict import TreeMerge
from forge.git.merging.incoming_changes import brings_session, without_conversation
from forge.git.merging.preview import (
    MergeKind,
    MergeOutcome,
    MergePreview,
    Resolutions,
    Step,
    StepResolutions,
    StepState,
    changed_files,
)
from forge.git.merging.three_way import ThreeWay, merging, with_resolutions
from forge.git.merging.trailers import with_origin
from forge.git.objects import commits
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.values import EMPTY_TREE, Commit, CommitId, ObjectId, ObjectKind, Signature

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects


@dataclass(frozen=True, slots=True)
class Chain:
    """Which commits to replay where, and how."""

    kind: MergeKind
    target: str
    """The branch that moves, and where it is now."""
    tip: CommitId
    start: CommitId
    start_name: str
    originals: tuple[CommitId, ...]
    committer: Signature
    reason: str
    mainline: int | None = None
    record_origin: bool = False
    resolutions: Mapping[CommitId, Resolutions] = field(default_factory=dict)
    instead: Mapping[str, bytes] | None = None
    """What comes in place of the commits' conversations, with the last of them; None: those come as they are."""


def replayed(chain: Chain, objects: Objects, more: StepResolutions) -> MergePreview:
    """What comes of the chain, with `more` resolutions than it has already."""
    joined = {
        step: {**chain.resolutions.get(step, {}), **more.get(step, {})}
        for step in dict.fromkeys([*chain.resolutions, *more])
    }
    new: NewObjects = {}
    with merging(objects, new) as three_way:
        return _Replay(replace(chain, resolutions=joined), three_way).preview()


class _Replay:
    """One run along a chain."""

    def __init__(self, chain: Chain, three_way: ThreeWay) -> None:
        self._chain = chain
        self._three_way = three_way
        self._view = three_way.view
        self._tip = chain.start
        self._tree = self._view.commit(chain.start).tree
        self._steps: list[Step] = []
        self._made: list[CommitId] = []
        self._unused = set(chain.resolutions)
        self._told = [each for each in chain.originals if self._tells(self._view.commit(each))]
        """The commits that bring a conversation."""

    def preview(self) -> MergePreview:
        for place, original in enumerate(self._chain.originals):
            merged = self._pick(self._view.commit(original))
            if merged is not None:
                rest = self._chain.originals[place + 1 :]
                self._steps += [Step(original, StepState.STOPPED), *(Step(c, StepState.WAITING) for c in rest)]
                _refuse_unused(self._unused.difference(rest))
                return self._shown(MergeOutcome.CONFLICTS, merged)
        _refuse_unused(self._unused)
        return self._shown(self._outcome(), TreeMerge(self._tree))

    def _pick(self, commit: Commit) -> TreeMerge | None:
        """Put one commit on top; if that leaves conflicts, the merge that shows them."""
        left_out = self._chain.instead is not None and commit.id in self._told
        if self._chain.kind is MergeKind.REBASE and commit.parents == (self._tip,) and not left_out:
            self._advance(commit, commit.id, commit.tree)
            return None
        before = _parent_tree(self._view, commit, self._chain.mainline)
        merged = self._three_way.trees(
            before,
            self._tree,
            commit.tree,
            names=(self._chain.start_name, commit.id[:12]),
            # A rebased branch continues with its own conversation; a picked commit does not bring one along.
            prefer_theirs=self._chain.kind is MergeKind.REBASE,
        )
        if left_out:
            merged = self._without_conversation(commit, merged)
        if merged.conflicts and commit.id in self._unused:
            self._unused.discard(commit.id)
            merged, contents = with_resolutions(self._view, merged, self._chain.resolutions[commit.id])
            self._view.new.update(contents)
        if merged.conflicts:
            return merged
        if merged.tree == self._tree and commit.tree != before:
            self._steps.append(Step(commit.id, StepState.DROPPED))
            return None
        raw = _rewritten(self._view.read(commit.id).data, self._chain, commit.id, merged.tree, self._tip)
        made = CommitId(object_id(ObjectKind.COMMIT, raw))
        self._view.new[ObjectId(made)] = RawObject(ObjectKind.COMMIT, raw)
        self._made.append(made)
        self._advance(commit, made, merged.tree)
        return None

    def _tells(self, commit: Commit) -> bool:
        return brings_session(self._view, _parent_tree(self._view, commit, self._chain.mainline), commit.tree)

    def _without_conversation(self, commit: Commit, merged: TreeMerge) -> TreeMerge:
        files = (self._chain.instead or {}) if commit.id == self._told[-1] else {}
        tree, made = without_conversation(self._view, merged.tree, self._tree, files)
        self._view.new.update(made)
        return replace(merged, tree=tree, changed=None)

    def _advance(self, commit: Commit, tip: CommitId, tree: ObjectId) -> None:
        self._steps.append(Step(commit.id, StepState.PICKED, tip))
        self._tip, self._tree = tip, tree

    def _outcome(self) -> MergeOutcome:
        if self._tip == self._chain.tip:
            return MergeOutcome.UP_TO_DATE
        return MergeOutcome.CLEAN if self._chain.originals else MergeOutcome.FAST_FORWARD

    def _shown(self, outcome: MergeOutcome, merged: TreeMerge) -> MergePreview:
        chain = self._chain
        stopped = outcome is MergeOutcome.CONFLICTS
        return MergePreview(
            chain.kind,
            outcome,
            chain.target,
            chain.tip,
            chain.originals or (chain.start,),
            None if stopped else self._tip,
            merged.tree,
            changed_files(self._view, self._view.commit(chain.tip).tree, TreeMerge(merged.tree)),
            chain.reason,
            merged.conflicts,
            merged.messages,
            tuple(self._steps),
            has_conversation=bool(self._told),
            new=self._view.new,
            made=() if stopped else tuple(self._made),
            resume=partial(replayed, chain),
        )


def _parent_tree(objects: Objects, commit: Commit, mainline: int | None) -> ObjectId:
    """The tree against which the change of `commit` is meant."""
    if not commit.parents:
        return EMPTY_TREE
    if len(commit.parents) > 1 and mainline is None:
        raise InvalidRevision(
            f"{commit.id[:12]} is a merge; its change depends on the parent it is compared with.",
            hint="Say which with mainline: 1 is the branch that was merged into.",
        )
    number = mainline or 1
    if not 1 <= number <= len(commit.parents):
        raise InvalidRevision(
            f"{commit.id[:12]} has {len(commit.parents)} parents, so there is no mainline {number}.",
            hint="Count parents from 1.",
        )
    return objects.commit(commit.parents[number - 1]).tree


def _rewritten(original: bytes, chain: Chain, origin: CommitId, tree: ObjectId, parent: CommitId) -> bytes:
    """The original with another tree, parent and committer; author and message byte for byte."""
    head, _, message = original.partition(b"\n\n")
    kept = {line.split(b" ", 1)[0]: line for line in head.split(b"\n")}
    if chain.record_origin:
        message = with_origin(message, origin)
    fresh = commits.encoded(tree, [parent], chain.committer, chain.committer, "")
    lines = [
        kept.get(b"author", line) if line.startswith(b"author ") else line for line in fresh.rstrip(b"\n").split(b"\n")
    ]
    if b"encoding" in kept:
        lines.append(kept[b"encoding"])
    return b"\n".join(lines) + b"\n\n" + message


def _refuse_unused(unused: Iterable[CommitId]) -> None:
    for step in unused:
        raise InvalidInput(
            f"Commit {step[:12]} has no conflict to resolve.", hint="Resolve only commits that stop the chain."
        )
