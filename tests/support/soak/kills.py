"""`kill -9` at random moments of saves."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.soak import evidence
from tests.support.soak.nursery import Nursery


@dataclass(frozen=True, slots=True)
class KillRun:
    kills: int
    acknowledged: int
    unheard: int
    """Commits in the branch whose writer died between making them and saying so."""
    slowest_recovery: float


def killed_while_committing(
    repo: Path, kills: int, *, branch: str = "main", work: str = "commits", seed: int = 0, longest: float = 0.25
) -> KillRun:
    """One writer at a time; each is killed at a random moment and the next goes on where it stopped."""
    chance = random.Random(seed)
    before = int(evidence.git(repo, "rev-list", "--count", branch))
    with Nursery() as nursery:
        for number in range(kills):
            writer = nursery.start(repo, f"w{number}", branch, work=work)
            writer.started.wait(30)
            if number % 3:
                writer.wait_for_landed(1)
            time.sleep(chance.random() * longest)
            writer.kill()
        last = nursery.start(repo, "last", branch, work=work, count=3)
        last.wait()
        assert last.status == 0, nursery.failures
        assert not nursery.failures, nursery.failures
        recoveries = [w.first - w.asked for w in nursery.writers if w.first is not None]
        evidence.assert_sound(repo)
        length = evidence.assert_nothing_lost(repo, nursery.landed, branch)
        evidence.assert_all_reachable(repo, nursery.landed)
        evidence.assert_log_tells_all(repo)
        evidence.assert_readable(repo)
        here = sum(one.branch == branch for one in nursery.landed)
        return KillRun(kills, len(nursery.landed), length - before - here, max(recoveries))
