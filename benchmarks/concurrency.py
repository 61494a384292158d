"""Eight processes saving on eight branches, against eight git worktrees."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row
from tests.support.sample_repositories import World

_PROCESSES = 8
_SECONDS = 4.0

_OURS = """
import sys, time
from forge.git import Repository
repo = Repository.open(sys.argv[1])
workspace = repo.workspace(sys.argv[2])
print("ready", flush=True); sys.stdin.readline()
end = time.monotonic() + float(sys.argv[3]); n = 0
while time.monotonic() < end:
    workspace.write_file("bench.txt", f"{n}\\n"); workspace.commit("bench: many"); n += 1
print(n)
"""
_THEIRS = """
import subprocess, sys, time
print("ready", flush=True); sys.stdin.readline()
end = time.monotonic() + float(sys.argv[3]); n = 0
while time.monotonic() < end:
    open(sys.argv[2] + "/bench.txt", "w").write(f"{n}\\n")
    for args in (["add", "bench.txt"], ["commit", "-qm", "bench: many"]):
        subprocess.run(["git", "-c", "core.fsync=all", "-c", "gc.auto=0", *args], cwd=sys.argv[2], check=True)
    n += 1
print(n)
"""


def together(world: World) -> Iterator[Row]:
    for n in range(_PROCESSES):
        world.git("branch", "-f", f"many/{n}", "main")
    ours = _rate(_OURS, world.path, [f"many/{n}" for n in range(_PROCESSES)])
    trees = [str(world.worktree(f"many{n}")) for n in range(_PROCESSES)]
    theirs = _rate(_THEIRS, world.path, trees)
    yield Row("8 processes, time per commit", "8 git worktrees, synced", world.name, 1 / ours, 1 / theirs, 15)


def _rate(program: str, repository: Path, places: list[str]) -> float:
    """Commits a second, all processes together."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(repository), place, str(_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for place in places
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    start = time.monotonic()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    done = sum(int(process.communicate()[0]) for process in running)
    return done / (time.monotonic() - start)
