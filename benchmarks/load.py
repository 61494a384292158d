"""What a server under load answers, and how fast: the figures of `tests.support.load`."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.timing import Figure
from tests.support.load import FLAT, Crowd, loaded


def load(root: Path) -> Iterator[Figure]:
    """`FORGE_LOAD_SECONDS` makes it shorter, for a look."""
    crowd = Crowd(seconds=float(os.environ.get("FORGE_LOAD_SECONDS", "60")))
    found = loaded(root, crowd)
    size = f"{crowd.clients} clients, {crowd.turns} turns, {crowd.per_second:g}/s, {crowd.seconds:g} s"
    yield Figure("reads under load, median", size, statistics.median(found.all_reads), "ms")
    yield Figure("reads under load, 95 of 100", size, _most(found.all_reads), "ms", 50)
    for name, times in sorted(found.reads.items()):
        yield Figure(f"reads under load, 95 of 100: {name}", size, _most(sorted(times)), "ms")
    yield Figure("saves under load, median", size, statistics.median(found.saves), "ms")
    yield Figure("saves under load, 95 of 100", size, _most(found.saves), "ms", 150)
    yield Figure("requests that failed", size, len(found.errors), "of all", 0)
    yield Figure("turns that were committed meanwhile", size, found.turns, "turns")
    yield Figure("turns that were not", size, len(found.unfinished), "turns", 0)
    yield Figure("recorded events heard", size, found.heard.recorded, "events")
    yield Figure("events lost", size, found.heard.lost, "events", 0)
    yield Figure("events doubled", size, found.heard.doubled, "events", 0)
    yield Figure("sequences unlike the record", size, found.heard.unlike, "topics", 0)
    yield Figure("growth of the server's memory, first to last third", size, found.grown, "%", FLAT)
    yield Figure("memory of the server", size, found.resident[-1] / 1024, "MB")
    yield Figure("processor time of the server in a second", size, found.used, "s")
    yield Figure("load average at the end", size, found.busy, "")
    for text in (*found.errors[:3], *found.unfinished[:3], *found.heard.problems[:3]):
        print(f"  {text}", file=sys.stderr)


def _most(times: Sequence[float]) -> float:
    return times[min(len(times) - 1, int(len(times) * 0.95))]
