"""What a resumed session goes by when sources disagree, and which of them have to be brought up to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from forge.memory.claims import disagrees, is_stale, skewed, winner
from forge.memory.layers import Layers
from forge.memory.read_order import time_ago, together, with_scan
from forge.memory.values import Caution, Entry, Initiative, NoteKind, Owed, Source, Status
from forge.memory.workflows import checkpoint, completion


@dataclass(frozen=True, slots=True)
class Resolved:
    """`truth` owes whatever MEMORY.md and WORKFLOW-STATUS.yaml lack; `behind` are the sources that were not right."""

    truth: Initiative
    source: Source
    behind: tuple[Source, ...]
    cautions: tuple[Caution, ...]


def resolved(
    layers: Layers, directory: Path, live: Initiative | None, *, new_id: str, now: datetime
) -> Resolved | None:
    """None if nothing is known. `new_id` is for an initiative that only people's lines or files tell of."""
    claims = layers.claims(live)
    known = with_scan(claims, directory)
    best = winner(claims) or (known[0] if known else None)
    if best is None:
        return None
    truth = together(best, [claim for claim in known if claim is not best])
    latest = max((claim.initiative.counter for claim in claims), default=0)
    # What another program wrote has no counter; from here on it is the latest that is known.
    truth = replace(truth, id=truth.id or new_id, counter=truth.counter or latest + bool(latest))
    if layers.initiative is not None and not truth.steps:
        truth = replace(truth, steps=layers.initiative.steps)
    told = {claim.source: claim for claim in claims}
    wrong = {claim.source for claim in claims if disagrees(claim, truth)}
    wrong |= {source for source in (Source.FILE, Source.WORKFLOW_STATUS) if source not in told}
    if Source.NOTES not in told and (truth.completed_phase or truth.status.over):
        wrong.add(Source.NOTES)
    stale = list(dict.fromkeys(claim.source for claim in claims if is_stale(claim, truth)))
    if Source.FILE in told and replace(truth, owed=Owed()) != replace(told[Source.FILE].initiative, owed=Owed()):
        wrong.add(Source.FILE)
    lines = (_line(truth),) if Source.NOTES in wrong else ()
    owed = Owed((*truth.owed.entries, *lines), truth.owed.workflow_status or Source.WORKFLOW_STATUS in wrong)
    behind = tuple(source for source in Source if source in wrong and source is not Source.SESSION)
    cautions = (*_warned(stale, best.source, truth, now), *_clocks(skewed(claims, best), best.source))
    return Resolved(replace(truth, owed=owed), best.source, behind, cautions)


def _line(truth: Initiative) -> Entry:
    about = truth.context or truth.title
    if truth.status in (Status.COMPLETED, Status.ARCHIVED):
        kind, text = NoteKind.COMPLETION, completion(truth.type, about, truth.outcome or "done")
    else:
        kind, text = NoteKind.CHECKPOINT, checkpoint(truth.type, truth.completed_phase, truth.phase, about)
    return Entry(kind, text, truth.updated, truth.id, truth.counter, truth.phase)


def _warned(stale: list[Source], right: Source, truth: Initiative, now: datetime) -> tuple[Caution, ...]:
    if not stale:
        return ()
    names = " and ".join(source.value for source in stale)
    message = (
        f"Initiative state may be stale — last updated {time_ago(truth.updated, now)}. "
        f"{names} told something else; {right.value} is the newest and was followed."
    )
    return (Caution("initiative_stale", message, "Check the real state of the work before you continue."),)


def _clocks(later: tuple[Source, ...], right: Source) -> tuple[Caution, ...]:
    if not later:
        return ()
    names = " and ".join(source.value for source in later)
    message = (
        f"A clock was wrong: {names} is dated later than {right.value}, which was written after it and was followed."
    )
    return (Caution("initiative_clock", message, "Check the clock of the machines that work here."),)
