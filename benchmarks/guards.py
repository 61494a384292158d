"""Whether the guards are right, for each class of generated cases, and what one evaluation costs."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator

from benchmarks.timing import Figure
from forge.pipeline.guards import Counts, evaluate
from tests.support.guard_cases import CLASSES, WORDS, cases, forge_verdict, random_findings, right_verdict


def guards() -> Iterator[Figure]:
    """Per class how many verdicts are right; then what one costs, and how that grows."""
    everything = cases()
    for kind in CLASSES:
        own = [case for case in everything if case.kind == kind]
        ends = [right_verdict(case) for case in own]
        right = sum(forge_verdict(case) == end for case, end in zip(own, ends, strict=True))
        seen = {guard: sum(end[0] == guard for end in ends) for guard in sorted({end[0] for end in ends})}
        size = f"{len(own)}: " + ", ".join(f"{n} {guard}" for guard, n in seen.items())
        yield Figure(f"right verdicts, {kind}", size, right, f"of {len(own)}", at_least=len(own))
    short, long = _cost(5), _cost(50)
    yield Figure("one evaluation of the guards", "5 rounds, 10 findings each", short, "µs", at_most=1_000)
    yield Figure("one evaluation of the guards", "50 rounds, 10 findings each", long, "µs", at_most=1_000)
    yield Figure("one evaluation of the guards", "100 findings of 4,000 letters", _longest(), "s", at_most=5)
    yield Figure("growth of an evaluation", "from 5 to 50 rounds", long / short, "times", at_most=10)


def _cost(rounds: int) -> float:
    """On a plateau, where all guards are looked at and descriptions are compared."""
    rng = random.Random(rounds)
    found = [f["description"] for f in random_findings(rng, [1, 4, 5])]
    trajectory = [Counts(n, 1, 4, 5, tuple(found)) for n in range(1, rounds)]
    trajectory.append(Counts(rounds, 1, 4, 5, tuple(f["description"] for f in random_findings(rng, [1, 4, 5]))))
    times = []
    for _ in range(300):
        start = time.perf_counter()
        evaluate(trajectory, tests=None)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def _longest() -> float:
    """Long descriptions of which none is known: the dearest comparison there is."""
    rng = random.Random(1)
    before, now = (tuple(" ".join(rng.choices(WORDS, k=900))[:4_000] for _ in range(100)) for _ in range(2))
    start = time.perf_counter()
    evaluate([*(Counts(n, 100, 0, 0, before) for n in (1, 2)), Counts(3, 100, 0, 0, now)], tests=None)
    return time.perf_counter() - start
