"""What a branch would be with commits picked onto it, or with its own commits moved onto another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.errors import InvalidInput
from forge.git.merging.merge_base import merge_bases
from forge.git.merging.preview import MergeKind, MergePreview, StepResolutions
from forge.git.merging.replay import Chain, replayed
from forge.git.objects.object_store import Objects
from forge.git.refs.branches import tip_of
from forge.git.refs.ref_store import Refs
from forge.git.values import CommitId, Signature


def preview_cherry_pick(
    objects: Objects,
    refs: Refs,
    picked: Sequence[CommitId],
    target: str,
    *,
    committer: Signature,
    mainline: int | None = None,
    record_origin: bool = False,
    resolutions: StepResolutions | None = None,
) -> MergePreview:
    """What `target` would be with the changes of these commits on top, in this order.

    Authors, their dates and messages stay; `mainline` says against which parent the change of a merge is meant.
    """
    tip = tip_of(refs, target)
    if not picked:
        raise InvalidInput("No commit is named.", hint="Name the commits to pick.")
    reason = f"cherry-pick {', '.join(c[:12] for c in picked[:3])} onto {target}"
    chain = Chain(
        MergeKind.CHERRY_PICK,
        target,
        tip,
        tip,
        target,
        tuple(picked),
        committer,
        reason,
        mainline,
        record_origin,
        resolutions or {},
    )
    return replayed(chain, objects, {})


def preview_rebase(
    objects: Objects,
    refs: Refs,
    branch: str,
    onto: CommitId,
    *,
    committer: Signature,
    onto_name: str | None = None,
    first: CommitId | None = None,
    resolutions: StepResolutions | None = None,
) -> MergePreview:
    """What `branch` would be if its own commits began at `onto`.

    As with `git rebase`: merges are left out, and commits whose change is there already. With `first` only that commit
    and those after it go there, as with `git rebase --onto`; what came before is no longer on the branch.
    """
    tip = tip_of(refs, branch)
    name = onto_name or onto[:12]
    if first is not None:
        return _reattached(objects, branch, tip, onto, name, first, committer, resolutions)
    chain = Chain(MergeKind.REBASE, branch, tip, onto, name, (), committer, f"rebase {branch} onto {name}")
    bases = merge_bases(objects, tip, onto)
    if bases == (tip,) or (bases == (onto,) and _is_line(objects, onto, tip)):
        return replayed(chain if bases == (tip,) else replace(chain, start=tip), objects, {})
    # What git rebase would pick, in its order.
    picks = ("--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only")
    own = objects.git.text("rev-list", *picks, f"{onto}...{tip}", "--").split()
    chain = replace(chain, originals=tuple(CommitId(c) for c in own), resolutions=resolutions or {})
    return replayed(chain, objects, {})


def _reattached(  # noqa: PLR0917 - what a rebase is
    objects: Objects,
    branch: str,
    tip: CommitId,
    onto: CommitId,
    name: str,
    first: CommitId,
    committer: Signature,
    resolutions: StepResolutions | None,
) -> MergePreview:
    if merge_bases(objects, tip, first) != (first,):
        raise InvalidInput(
            f"{first[:12]} is not on {branch}.", hint=f"`forge log {branch}` lists the commits a rebase can begin with."
        )
    if merge_bases(objects, onto, first) == (first,):
        raise InvalidInput(
            f"{name} comes after {first[:12]}, so the commits would be put onto themselves.",
            hint="Choose a branch or commit that does not have it.",
        )
    parents = objects.commit(first).parents
    reason = f"rebase {branch} from {first[:12]} onto {name}"
    chain = Chain(MergeKind.REBASE, branch, tip, onto, name, (), committer, reason)
    if parents[:1] == (onto,):
        return replayed(replace(chain, start=tip), objects, {})
    picks = ("--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only", f"{onto}...{tip}")
    own = objects.git.text("rev-list", *picks, *(f"^{parent}" for parent in parents), "--").split()
    chain = replace(chain, originals=tuple(CommitId(c) for c in own), resolutions=resolutions or {})
    return replayed(chain, objects, {})


def _is_line(objects: Objects, start: CommitId, end: CommitId) -> bool:
    """Whether `end` follows `start` without any merge between."""
    while end != start:
        parents = objects.commit(end).parents
        if len(parents) != 1:
            return False
        end = parents[0]
    return True
