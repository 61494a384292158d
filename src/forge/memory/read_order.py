"""The order of reading: live session, L1, L2, status file, directory scan. The first rules, the others enrich."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from forge.memory.claims import Claim, enriched
from forge.memory.layers import Layers
from forge.memory.marks import Fold
from forge.memory.scan import scanned
from forge.memory.values import Caution, Entry, Initiative, InterviewState, NoteKind, Source

_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is remembered, and which source ruled. `claims` is what each source says by itself."""

    source: Source | None
    initiative: Initiative | None
    enriched_by: tuple[Source, ...]
    interview: InterviewState
    entries: tuple[Entry, ...]
    folds: tuple[Fold, ...]
    claims: tuple[Claim, ...]
    warnings: tuple[Caution, ...] = ()

    def lines(self, kind: NoteKind) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind is kind)


def recalled(layers: Layers, directory: Path, live: Initiative | None = None) -> Recalled:
    claims = with_scan(layers.claims(live), directory)
    told = together(claims[0], claims[1:]) if claims else None
    return Recalled(
        source=claims[0].source if claims else None,
        initiative=told,
        enriched_by=tuple(claim.source for claim in claims[1:] if told and claim.initiative.id in ("", told.id)),
        interview=layers.interview or InterviewState(),
        entries=layers.notes.entries,
        folds=layers.notes.folds,
        claims=tuple(claims),
        warnings=tuple(layers.cautions),
    )


def with_scan(claims: list[Claim], directory: Path) -> list[Claim]:
    """The scan is asked only where no other source knows the milestones."""
    if any(claim.initiative.milestones for claim in claims):
        return claims
    found = scanned(directory)
    return claims if found is None else [*claims, Claim(Source.SCAN, found)]


def together(ruling: Claim, others: Sequence[Claim]) -> Initiative:
    return enriched(ruling.initiative, [claim.initiative for claim in others])


def time_ago(then: datetime, now: datetime) -> str:
    seconds = int(abs(now - then) / timedelta(seconds=1))
    if seconds < 60:
        return "just now"
    size, unit = next((size, unit) for size, unit in _UNITS if seconds >= size)
    amount = seconds // size
    span = f"{amount} {unit}{'s' * (amount != 1)}"
    return f"{span} ago" if then <= now else f"{span} in the future (a clock is wrong)"
