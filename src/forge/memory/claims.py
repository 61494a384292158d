"""Which of several sources is right about an initiative, and where they disagree.

The newest `lastUpdated` is right. Of two copies of one initiative that Forge itself wrote, the counter says which is
the later one: where the times say otherwise a clock was wrong, and that is told. A copy without a counter was written
by another program and is compared by its time alone. The best copy of each initiative is found first, so that the order
in which the sources are given does not matter. An initiative that is known to have followed another stands before it
whatever the clocks say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from forge.memory.values import LONG_AGO, Initiative, Milestone, Source

STALE = timedelta(minutes=5)
_READING = list(Source)


@dataclass(frozen=True, slots=True)
class Claim:
    """What one source says."""

    source: Source
    initiative: Initiative


def winner(claims: Iterable[Claim]) -> Claim | None:
    copies: dict[str, list[Claim]] = {}
    for claim in claims:
        copies.setdefault(claim.initiative.id, []).append(claim)
    best = {id_: _best_copy(each) for id_, each in copies.items()}
    followed = {id_ for claim in best.values() for id_ in claim.initiative.previous}
    return max((claim for id_, claim in best.items() if id_ not in followed), key=_between, default=None)


def skewed(claims: Iterable[Claim], best: Claim) -> tuple[Source, ...]:
    """The sources that are dated later than the best copy, and were written before it: by a wrong clock."""
    chosen = best.initiative
    return tuple(
        claim.source
        for claim in claims
        if claim.initiative.id == chosen.id
        and 0 < claim.initiative.counter < chosen.counter
        and claim.initiative.updated > chosen.updated
    )


def disagrees(claim: Claim, truth: Initiative) -> bool:
    """Whether the source tells another story. MEMORY.md has no status but over or not, and no milestones."""
    if claim.source is Source.NOTES:
        if claim.initiative.id != truth.id and claim.initiative.status.over:
            return False  # a new initiative has no line there before its first phase is done
        return _position(claim.initiative) != _position(truth)
    return _told(claim.initiative) != _told(truth)


def is_stale(claim: Claim, truth: Initiative) -> bool:
    return disagrees(claim, truth) and abs(truth.updated - claim.initiative.updated) > STALE


def enriched(ruling: Initiative, others: Sequence[Initiative]) -> Initiative:
    """`ruling`, with what it does not know taken from the others; only from those that tell of the same initiative."""
    for other in others:
        if ruling.id and other.id and ruling.id != other.id:
            continue
        ruling = replace(
            ruling,
            id=ruling.id or other.id,
            title=ruling.title or other.title,
            context=ruling.context or other.context,
            milestone=ruling.milestone if ruling.milestones else ruling.milestone or other.milestone,
            milestones=_milestones(ruling.milestones, other.milestones),
            created=other.created if ruling.created == LONG_AGO else ruling.created,
            previous=ruling.previous or other.previous,
            steps=ruling.steps or other.steps,
            owed=ruling.owed or other.owed,
            other={**other.other, **ruling.other},
        )
    return ruling


def _milestones(ruling: tuple[Milestone, ...], other: tuple[Milestone, ...]) -> tuple[Milestone, ...]:
    """WORKFLOW-STATUS.yaml knows no progress; the files do."""
    if not ruling:
        return other
    known = {each.id: each for each in other}
    return tuple(
        replace(each, done=known[each.id].done, total=known[each.id].total)
        if each.id in known and not each.total
        else each
        for each in ruling
    )


def _best_copy(copies: Sequence[Claim]) -> Claim:
    counted = max((claim for claim in copies if claim.initiative.counter), key=_within, default=None)
    others = max((claim for claim in copies if not claim.initiative.counter), key=_within, default=None)
    if counted is None or others is None:
        return counted or others or copies[0]
    return others if others.initiative.updated > counted.initiative.updated else counted


def _within(claim: Claim) -> tuple[int, datetime, int]:
    return claim.initiative.counter, claim.initiative.updated, -_READING.index(claim.source)


def _between(claim: Claim) -> tuple[datetime, int, str]:
    return claim.initiative.updated, -_READING.index(claim.source), claim.initiative.id


def _position(value: Initiative) -> tuple[object, ...]:
    return value.id, value.type, value.phase, value.status.over


def _told(value: Initiative) -> tuple[object, ...]:
    milestones = tuple((each.id, each.status) for each in value.milestones)
    return value.id, value.type, value.phase, value.status, value.milestone, milestones
