"""Power cuts: a copy of the disk as it is at some moment of writing, mounted elsewhere.

The writer is stopped, not ended, while the copy is made. What it has not synced is then only in the kernel's
memory and is missing in the copy, as after a real cut.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from forge.git import Repository
from tests.support.soak import disks, evidence
from tests.support.soak.nursery import Landed, Nursery

_MEGABYTES = 48


@dataclass(frozen=True, slots=True)
class PowerRun:
    cuts: int
    acknowledged: int
    lost: int
    """Acknowledged commits that a disk lacks after its cut, over all cuts."""
    broken: int
    """Disks on which git finds the repository damaged after the cut."""


def cut_while_committing(folder: Path, cuts: int, *, seed: int = 0, work: str = "commits") -> PowerRun:
    """Cut the power `cuts` times in one long run of commits, and look at what each disk holds."""
    chance = random.Random(seed)
    lost = broken = 0
    with disks.ext4(folder, _MEGABYTES) as (disk, image), Nursery() as nursery:
        repo = disk / "repo"
        Repository.init(repo, bare=True)
        nursery.start(repo, "first", "main", count=1).wait()
        acknowledged: list[Landed] = []
        for number in range(cuts):
            writer = nursery.start(repo, f"w{number}", "main", work=work)
            writer.wait_for_landed(2)
            time.sleep(chance.random() * 0.3)
            assert not writer.failures, writer.failures
            os.kill(writer.pid, signal.SIGSTOP)
            acknowledged += writer.landed
            shutil.copyfile(image, folder / "copy")
            # No process outlives a power cut; on the copy this one has to count as dead.
            writer.kill()
            gone, damaged = _after_the_cut(nursery, folder, acknowledged, f"after{number}")
            lost += gone
            broken += damaged
            (folder / "copy").unlink()
        assert not nursery.failures, nursery.failures
        return PowerRun(cuts, len(acknowledged), lost, broken)


def _after_the_cut(nursery: Nursery, folder: Path, acknowledged: list[Landed], name: str) -> tuple[int, bool]:
    with disks.mounted(folder / "copy", folder / "after") as disk:
        repo = disk / "repo"
        try:
            evidence.assert_sound(repo)
        except AssertionError:
            return len(acknowledged), True
        history = set(evidence.git(repo, "rev-list", "--all").split())
        gone = sum(one.commit not in history for one in acknowledged)
        if not gone:
            evidence.assert_log_tells_all(repo)
            _goes_on(nursery, repo, name)
        return gone, False


def _goes_on(nursery: Nursery, repo: Path, name: str) -> None:
    """The next save works on what the cut left."""
    writer = nursery.start(repo, name, "main", count=1)
    writer.wait()
    assert writer.status == 0, writer.failures
    evidence.assert_sound(repo)
    evidence.assert_readable(repo)
