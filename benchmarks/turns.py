"""What the work around a model costs: turns on twenty branches at once, and the same turns one after another."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.timing import Figure, Row
from tests.support.turn_crowd import crowd

_BRANCHES = 20
_TURNS = 6


def turns(root: Path) -> Iterator[Row | Figure]:
    """A model that answers at once, three answers and two edits in each turn, everything durable."""
    size = f"{_BRANCHES} branches × {_TURNS}"
    # The first turn of a process loads libraries for some seconds: neither side is to pay for that.
    asyncio.run(crowd(root / "loading", 1, 1, together=True))
    together = asyncio.run(crowd(root / "together", _BRANCHES, _TURNS, together=True))
    alone = asyncio.run(crowd(root / "alone", _BRANCHES, _TURNS, together=False))
    yield Row("turns on many branches at once", "one after another", size, together.seconds, alone.seconds, 1.0)
    yield Figure("turns in a second, at once", size, len(together.finished) / together.seconds, "/s")
    yield Figure("a turn alone, median", size, statistics.median(alone.latencies) * 1000, "ms")
    yield Figure("a turn alone, 95 of 100", size, _most(alone.latencies) * 1000, "ms")
    yield Figure("a turn among twenty, median", size, statistics.median(together.latencies) * 1000, "ms")
    yield Figure("a turn among twenty, 95 of 100", size, _most(together.latencies) * 1000, "ms")
    yield Figure("one branch ahead of another, at most", size, together.spread, "turns", 2)
    yield Figure("growth of the process with each turn", size, together.grown, "KB", 200)


def _most(sorted_times: Sequence[float]) -> float:
    return sorted_times[int(len(sorted_times) * 0.95)]
