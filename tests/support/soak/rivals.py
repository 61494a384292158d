"""Several processes at once, while git cleans up behind them."""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.soak import evidence
from tests.support.soak.nursery import Nursery, Writer

CLEANERS: dict[str, tuple[str, ...]] = {
    "gc --prune=now": ("gc", "--quiet", "--prune=now"),
    "gc": ("gc", "--quiet"),
    "repack -ad": ("repack", "-a", "-d", "-q"),
    "pack-refs": ("pack-refs", "--all", "--prune"),
}


@dataclass(slots=True)
class Cleaning:
    runs: int = 0
    complaints: list[str] = field(default_factory=list)


@contextmanager
def cleaning(repo: Path, names: Sequence[str]) -> Iterator[Cleaning]:
    """git commands one after the other, without a pause, until the block ends."""
    done = Cleaning()
    over = threading.Event()

    def loop() -> None:
        while not over.is_set():
            name = names[done.runs % len(names)]
            ran = subprocess.run(["git", *CLEANERS[name]], cwd=repo, capture_output=True, text=True, check=False)
            done.runs += 1
            if ran.returncode:
                done.complaints.append(f"{name}: {ran.stderr.strip().splitlines()[-1]}")

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


@dataclass(frozen=True, slots=True)
class RivalRun:
    seconds: float
    writers: int
    acknowledged: int
    lost_races: int
    kills: int
    cleanings: int
    complaints: dict[str, int]
    """What git said when it could not clean up, for example because a killed writer had left a lock."""
    operations: int


def writers_while_cleaning(
    repo: Path,
    branches: Sequence[str],
    *,
    seconds: float,
    cleaners: Sequence[str],
    work: str = "commits",
    kills: int = 0,
    seed: int = 0,
) -> RivalRun:
    """One writer for each of `branches` (a name given twice has two). `kills` of them die and are replaced."""
    chance = random.Random(seed)
    began = time.monotonic()
    with Nursery() as nursery, cleaning(repo, cleaners) as cleaned:
        at_work = [
            nursery.start(repo, f"w{number}", branch, work=work, seconds=seconds)
            for number, branch in enumerate(branches)
        ]
        for number in range(kills):
            time.sleep(seconds / (kills + 1) * chance.uniform(0.5, 1.5))
            place = chance.randrange(len(at_work))
            at_work[place].kill()
            left = max(began + seconds - time.monotonic(), 3.0)
            at_work[place] = nursery.start(repo, f"k{number}", branches[place], work=work, seconds=left)
        for writer in at_work:
            writer.wait(seconds + 120)
    _assert_went_well(nursery.writers, kills)
    evidence.assert_sound(repo)
    landed = nursery.landed
    if work == "commits":
        for branch in dict.fromkeys(branches):
            evidence.assert_nothing_lost(repo, landed, branch)
    evidence.assert_all_reachable(repo, landed)
    operations = evidence.assert_log_tells_all(repo)
    evidence.assert_readable(repo)
    return RivalRun(
        time.monotonic() - began,
        len(branches),
        len(landed),
        sum(writer.lost_races for writer in nursery.writers),
        kills,
        cleaned.runs,
        dict(Counter(cleaned.complaints)),
        len(operations),
    )


def _assert_went_well(writers: Sequence[Writer], kills: int) -> None:
    failures = [f"{writer.name}: {text}" for writer in writers for text in writer.failures]
    assert not failures, failures[:5]
    assert sum(writer.status != 0 for writer in writers) <= kills
    idle = [writer.name for writer in writers if writer.status == 0 and not writer.landed]
    assert not idle, f"{idle} landed nothing"
