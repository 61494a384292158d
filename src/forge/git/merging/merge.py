"""Merges one line of work into a branch: what it would give, before it happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.errors import InvalidName, InvalidRevision
from forge.git.history.revisions import tip_of
from forge.git.merging.conflict import TreeMerge
from forge.git.merging.incoming_changes import brings_session, without_conversation
from forge.git.merging.merge_base import merge_bases
from forge.git.merging.preview import (
    MergeKind,
    MergeOutcome,
    MergePreview,
    StepResolutions,
    changed_files,
)
from forge.git.merging.three_way import merging, with_resolutions
from forge.git.objects import commits
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.values import CommitId, ObjectId, ObjectKind, Signature

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs

_USUAL_TARGETS = ("main", "master")


@dataclass(frozen=True, slots=True)
class _Request:
    target: str
    tip: CommitId
    source: CommitId
    source_name: str
    message: str
    author: Signature
    committer: Signature
    instead: Mapping[str, bytes] | None = None


def preview_merge(
    objects: Objects,
    refs: Refs,
    source: CommitId,
    target: str,
    *,
    committer: Signature,
    author: Signature | None = None,
    message: str | None = None,
    source_name: str | None = None,
    no_ff: bool = False,
    instead: Mapping[str, bytes] | None = None,
) -> MergePreview:
    """What merging `source` into branch `target` would give. Without `no_ff` a branch that is behind just follows.

    `instead` are the files that come in place of the source's conversation; None: the conversation itself comes.
    """
    tip = tip_of(refs, target)
    text = commits.message_with(message or _usual_message(refs, source, source_name, target))
    name = source_name or source[:12]
    request = _Request(target, tip, source, name, text, author or committer, committer, instead)
    bases = merge_bases(objects, tip, source)
    if not bases:
        raise InvalidRevision(
            f"{name} and {target} have no commit in common.",
            hint="Check that they belong together; `git merge --allow-unrelated-histories` joins them anyway.",
        )
    new: NewObjects = {}
    if bases == (source,):
        return _unmerged(objects, request, MergeOutcome.UP_TO_DATE, tip)
    if bases == (tip,):
        if not no_ff and not (instead is not None and _has_conversation(objects, request)):
            return _unmerged(objects, request, MergeOutcome.FAST_FORWARD, source)
        return _merged(objects, request, TreeMerge(objects.commit(source).tree), new)
    with merging(objects, new) as three_way:
        merged = three_way.commits(bases, tip, source, names=(target, name))
    return _merged(objects, request, merged, new)


def _unmerged(objects: Objects, request: _Request, outcome: MergeOutcome, result: CommitId) -> MergePreview:
    tree = objects.commit(result).tree
    return MergePreview(
        MergeKind.MERGE,
        outcome,
        request.target,
        request.tip,
        (request.source,),
        result,
        tree,
        changed_files(objects, objects.commit(request.tip).tree, TreeMerge(tree)),
        _reason(request),
        has_conversation=outcome is not MergeOutcome.UP_TO_DATE and _has_conversation(objects, request),
    )


def _merged(objects: Objects, request: _Request, merged: TreeMerge, new: NewObjects) -> MergePreview:
    result = None
    merged = _with_instead(objects, request, merged, new)
    if not merged.conflicts:
        parents = (request.tip, request.source)
        raw = commits.encoded(merged.tree, parents, request.author, request.committer, request.message)
        result = CommitId(object_id(ObjectKind.COMMIT, raw))
        new[ObjectId(result)] = RawObject(ObjectKind.COMMIT, raw)
    view = objects.with_new(new)
    return MergePreview(
        MergeKind.MERGE,
        MergeOutcome.CLEAN if result else MergeOutcome.CONFLICTS,
        request.target,
        request.tip,
        (request.source,),
        result,
        merged.tree,
        changed_files(view, objects.commit(request.tip).tree, merged),
        _reason(request),
        merged.conflicts,
        merged.messages,
        has_conversation=_has_conversation(objects, request),
        new=new,
        made=(result,) if result else (),
        resume=partial(_resumed, request, merged, new) if merged.conflicts else None,
    )


def _with_instead(objects: Objects, request: _Request, merged: TreeMerge, new: NewObjects) -> TreeMerge:
    if request.instead is None or not _has_conversation(objects, request):
        return merged
    ours = objects.commit(request.tip).tree
    tree, made = without_conversation(objects.with_new(new), merged.tree, ours, request.instead)
    new.update(made)
    return replace(merged, tree=tree, changed=None)


def _has_conversation(objects: Objects, request: _Request) -> bool:
    return brings_session(objects, objects.commit(request.tip).tree, objects.commit(request.source).tree)


def _resumed(
    request: _Request, merged: TreeMerge, new: NewObjects, objects: Objects, resolutions: StepResolutions
) -> MergePreview:
    strange = [str(step) for step in resolutions if step != request.source]
    if strange:
        raise InvalidInput(f"{strange[0]} is not what is being merged.", hint="Give contents by path.")
    view = objects.with_new(new)
    settled, more = with_resolutions(view, merged, resolutions[request.source])
    return _merged(objects, request, settled, new | more)


def _reason(request: _Request) -> str:
    return f"merge {request.source_name} into {request.target}"


def _usual_message(refs: Refs, source: CommitId, source_name: str | None, target: str) -> str:
    """As git words it."""
    kind = "branch" if source_name and _is_branch(refs, source_name, source) else "commit"
    what = f"{kind} '{source_name or source}'"
    return f"Merge {what}" if target in _USUAL_TARGETS else f"Merge {what} into {target}"


def _is_branch(refs: Refs, name: str, tip: CommitId) -> bool:
    try:
        return refs.tip(name) == tip
    except InvalidName:
        return False
