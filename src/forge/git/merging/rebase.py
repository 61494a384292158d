"""What a branch would be with commits picked onto it, or with its own commits moved onto another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.history.revisions import tip_of
from forge.git.merging.incoming_changes import brings_session
from forge.git.merging.merge_base import merge_bases
from forge.git.merging.preview import MergeKind, MergePreview, StepResolutions
from forge.git.merging.replay import Chain, replayed
from forge.git.values import CommitId, Signature

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs


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
    instead: Mapping[str, bytes] | None = None,
) -> MergePreview:
    """What `target` would be with the changes of these commits on top, in this order.

    Authors, their dates and messages stay; `mainline` says against which parent the change of a merge is meant.
    `instead` are the files that come in place of the commits' conversations; None: those come as they are.
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
        instead,
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
    instead: Mapping[str, bytes] | None = None,
) -> MergePreview:
    """What `branch` would be if its own commits began at `onto`.

    As with `git rebase`: merges are left out, and commits whose change is there already. With `first` only that commit
    and those after it go there, as with `git rebase --onto`; what came before is no longer on the branch.
    `instead` are the files that come in place of the commits' conversations; `onto` keeps what it has.
    """
    tip = tip_of(refs, branch)
    name = onto_name or onto[:12]
    reason = f"rebase {branch} onto {name}"
    chain = Chain(MergeKind.REBASE, branch, tip, onto, name, (), committer, reason, instead=instead)
    if first is not None:
        return _reattached(objects, chain, first, resolutions)
    bases = merge_bases(objects, tip, onto)
    if bases == (tip,):
        return _forwarded(objects, chain, resolutions)
    if bases == (onto,) and instead is None and _is_line(objects, onto, tip):
        return _in_place(objects, chain)
    # What git rebase would pick, in its order.
    picks = ("--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only")
    own = objects.git.text("rev-list", *picks, f"{onto}...{tip}", "--").split()
    chain = replace(chain, originals=tuple(CommitId(c) for c in own), resolutions=resolutions or {})
    return replayed(chain, objects, {})


def _forwarded(objects: Objects, chain: Chain, resolutions: StepResolutions | None) -> MergePreview:
    """The branch has nothing that `onto` has not: it follows. Without a conversation it gets copies of the commits."""
    onto, tip = chain.start, chain.tip
    brings = brings_session(objects, objects.commit(tip).tree, objects.commit(onto).tree)
    if chain.instead is None or not brings:
        return replace(replayed(chain, objects, {}), has_conversation=brings)
    if not _is_line(objects, tip, onto):
        raise InvalidInput(
            f"{chain.start_name} has merges, so a rebase cannot leave its conversation out.",
            hint=f"Merge {chain.start_name} instead, or keep the conversation.",
        )
    own = objects.git.text("rev-list", "--reverse", f"{tip}..{onto}", "--").split()
    originals = tuple(CommitId(c) for c in own)
    return replayed(replace(chain, start=tip, originals=originals, resolutions=resolutions or {}), objects, {})


def _reattached(objects: Objects, chain: Chain, first: CommitId, resolutions: StepResolutions | None) -> MergePreview:
    branch, tip, onto, name = chain.target, chain.tip, chain.start, chain.start_name
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
    chain = replace(chain, reason=f"rebase {branch} from {first[:12]} onto {name}")
    if parents[:1] == (onto,) and chain.instead is None:
        return _in_place(objects, chain)
    picks = ("--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only", f"{onto}...{tip}")
    own = objects.git.text("rev-list", *picks, *(f"^{parent}" for parent in parents), "--").split()
    chain = replace(chain, originals=tuple(CommitId(c) for c in own), resolutions=resolutions or {})
    return replayed(chain, objects, {})


def _in_place(objects: Objects, chain: Chain) -> MergePreview:
    """The commits begin at `onto` already."""
    brings = brings_session(objects, objects.commit(chain.start).tree, objects.commit(chain.tip).tree)
    return replace(replayed(replace(chain, start=chain.tip), objects, {}), has_conversation=brings)


def _is_line(objects: Objects, start: CommitId, end: CommitId) -> bool:
    """Whether `end` follows `start` without any merge between."""
    while end != start:
        parents = objects.commit(end).parents
        if len(parents) != 1:
            return False
        end = parents[0]
    return True
