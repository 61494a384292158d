"""Steps of runs that ended long ago go. The row of a run stays, so that its id never begins anything again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge.store.runs import Runs

if TYPE_CHECKING:
    from forge.engine.durable import Durable

_TOGETHER = 100


def forget_steps(durable: Durable, runs: Runs, before: float) -> Iterator[int]:
    """A part at each turn: of how many runs. Both records must say that a run is over."""
    last = ""
    while ids := durable.ended(before, after=last, most=_TOGETHER):
        last = ids[-1]
        over = runs.ended_before(ids, before)
        if over:
            durable.forget(over)
            yield len(over)
