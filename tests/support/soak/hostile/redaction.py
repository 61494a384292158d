"""Redaction by the thousand: ordinary texts that must stay as they are, and secrets that must not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.redaction.kinds import KINDS
from tests.support.redaction.ordinary import changed
from tests.support.redaction.planted import missed, missed_bare


@dataclass(frozen=True, slots=True)
class Measured:
    ordinary: int
    changed: int
    kinds: int
    planted: int
    missed: int
    bare: int
    missed_bare: int


def run(_folder: Path, rounds: int | None, seed: int) -> Measured:
    """`rounds` secrets of each kind in each carrier, and 5,000 ordinary texts for each of them."""
    rounds = rounds or 10
    ordinary, touched = changed(seed, 5_000 * rounds)
    planted, lost = missed(seed, rounds)
    assert len(touched) <= ordinary / 1000, [each.text[:200] for each in touched[:3]]
    # Of many random values a few happen to spell words.
    assert len(lost) <= planted / 10_000, [(each.kind, each.carrier) for each in lost[:3]]
    bare = 6_000 * rounds
    unnamed = missed_bare(seed, bare)
    assert len(unnamed) <= bare / 1000, unnamed[:3]
    return Measured(ordinary, len(touched), len(KINDS), planted, len(lost), bare, len(unnamed))
