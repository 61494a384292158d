"""`kill -9` before every step to the disk: strace ends the process at the n-th call of each kind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.git import Repository
from tests.support.soak import evidence
from tests.support.soak.nursery import ROOT
from tests.support.soak.step import ACTIONS

CALLS = ("mkdir", "rmdir", "flock", "fsync", "fdatasync", "rename", "link", "unlink")


@cache
def why_no_strace() -> str:
    """Empty where processes can be traced; otherwise the reason."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return f"strace may not trace here: {tried.stderr.strip()}" if tried.returncode else ""


@dataclass(frozen=True, slots=True)
class StepRun:
    action: str
    kills: int
    happened: int
    """Kills after which the work was found done."""
    slowest_recovery: float


def killed_at_each_step(folder: Path, action: str, calls: Iterable[str] = CALLS) -> StepRun:
    """Do `action` in a fresh repository again and again, each time ended one step later."""
    template = _template(folder / "template")
    counted = _steps(folder, template, action)
    kills = happened = 0
    slowest = 0.0
    for call in calls:
        for number in range(1, counted[call] + 1):
            repo = folder / f"{action}-{call}-{number}"
            shutil.copytree(template, repo, symlinks=True)
            ended = _traced(repo, action, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}")
            assert b"done" not in ended.stdout, f"{call} {number} did not end the process"
            kills += 1
            before = evidence.git(repo, "for-each-ref", "refs/heads")
            slowest = max(slowest, _recovered(repo))
            happened += before != evidence.git(template, "for-each-ref", "refs/heads")
            shutil.rmtree(repo)
    return StepRun(action, kills, happened, slowest)


def _recovered(repo: Path) -> float:
    """What the next process finds: whole history, a log that tells it, and work that goes on."""
    evidence.assert_sound(repo)
    evidence.assert_readable(repo)
    began = time.monotonic()
    opened = Repository.open(repo)
    ACTIONS["commit"](opened)
    took = time.monotonic() - began
    for branch, _ in opened.refs.branches():
        if branch not in ("main", "work"):
            opened.delete_branch(branch)
    if any(path.suffix == ".lock" for path in evidence.leftovers(repo)):
        time.sleep(2.1)  # an empty lock tells nothing of its owner; it has to grow old first
        ACTIONS["commit"](Repository.open(repo))
    evidence.assert_sound(repo)
    evidence.assert_log_tells_all(repo)
    left = evidence.leftovers(repo)
    assert not left, left
    return took


def _template(place: Path) -> Path:
    """A checkout with a branch to work on and one to lose, loose and packed."""
    repo = Repository.init(place)
    workspace = repo.workspace("main")
    workspace.write_file("file.txt", "file\n")
    workspace.commit("first")
    repo.create_branch("gone", "main")
    repo.create_branch("work", "main")
    evidence.git(place, "pack-refs", "--all")
    workspace = repo.workspace("work")
    workspace.write_file("more.txt", "more\n")
    workspace.commit("second")
    return place


def _steps(folder: Path, template: Path, action: str) -> Counter[str]:
    repo = folder / "counted"
    shutil.copytree(template, repo, symlinks=True)
    log = folder / "calls"
    done = _traced(repo, action, "-e", f"trace={','.join(CALLS)}", output=log)
    assert b"done" in done.stdout, done.stderr
    shutil.rmtree(repo)
    return Counter(re.findall(r"^\d+ +([a-z]+)\(", log.read_text(), re.MULTILINE))


def _traced(repo: Path, action: str, *options: str, output: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    strace = ["strace", "-f", "-qq", "-o", str(output or os.devnull), *options]
    python = [sys.executable, "-B", "-m", "tests.support.soak.step", str(repo), action]
    return subprocess.run([*strace, *python], cwd=ROOT, capture_output=True, check=False)
