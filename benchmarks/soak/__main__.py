"""`python -m benchmarks.soak [NAME] [--seconds N] [--rounds N]`: the long form of the reliability tests."""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.support.forked_commands import Forked
from tests.support.repositories import repository
from tests.support.soak import (
    disks,
    histories,
    hostile,
    kills,
    many,
    power,
    projects,
    rivals,
    side_histories,
    space,
    steps,
    turns,
)
from tests.support.soak.step import ACTIONS

_GIT_CONFIG = (
    "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)


def run_kills(folder: Path, options: argparse.Namespace) -> object:
    return kills.killed_while_committing(
        repository(folder, "ai/work"), options.rounds or 200, branch="ai/work", seed=options.seed
    )


def run_kills_in_checkout(folder: Path, options: argparse.Namespace) -> object:
    return kills.killed_while_committing(repository(folder), options.rounds or 100, branch="main", seed=options.seed)


def run_kills_of_branches(folder: Path, options: argparse.Namespace) -> object:
    rounds = options.rounds or 100
    return kills.killed_while_committing(repository(folder), rounds, work="branches", seed=options.seed)


def run_steps(folder: Path, _: argparse.Namespace) -> object:
    if reason := steps.why_no_strace():
        return f"not run: {reason}"
    return [_step(folder / action, action) for action in ACTIONS]


def _step(folder: Path, action: str) -> steps.StepRun:
    folder.mkdir()
    return steps.killed_at_each_step(folder, action)


def run_cleaning(folder: Path, options: argparse.Namespace) -> object:
    """8 processes on 8 branches, then 2 on one, while git cleans up without a pause, for each way of cleaning up."""
    eight = [f"ai/{number}" for number in range(8)]
    found = []
    for number, (cleaner, names) in enumerate((c, b) for c in rivals.CLEANERS for b in (eight, ["ai/0", "ai/0"])):
        place = folder / str(number)
        place.mkdir()
        seconds = options.seconds or 30
        run = rivals.writers_while_cleaning(
            repository(place, *eight), names, seconds=seconds, cleaners=[cleaner], kills=8, seed=options.seed
        )
        found.append((cleaner, run))
    return found


def run_cleaning_branches(folder: Path, options: argparse.Namespace) -> object:
    """Branches made, renamed, rewound, deleted and brought back by 4 processes while git cleans up."""
    return rivals.writers_while_cleaning(
        repository(folder),
        ["main"] * 4,
        seconds=options.seconds or 60,
        cleaners=list(rivals.CLEANERS),
        work="branches",
        kills=8,
        seed=options.seed,
    )


def run_merges(folder: Path, options: argparse.Namespace) -> object:
    """Agent branches that plain git merges, rebases, squashes, picks from and forks, against a model."""
    return histories.random_histories(folder, options.rounds or 300, seed=options.seed)


def run_side_merges(folder: Path, options: argparse.Namespace) -> object:
    """The same with conversations on side refs, also renamed, deleted and undone by Forge and by plain git."""
    return side_histories.random_side_histories(folder, options.rounds or 300, seed=options.seed)


def run_power(folder: Path, options: argparse.Namespace) -> object:
    if reason := disks.why_no_mounts():
        return f"not run: {reason}"
    rounds = options.rounds or 40
    found = {}
    for work in ("commits", "branches", "unsynced"):
        place = folder / work
        place.mkdir()
        count = rounds if work != "unsynced" else 3
        found[work] = power.cut_while_committing(place, count, work=work, seed=options.seed)
    return found


def run_space(folder: Path, options: argparse.Namespace) -> object:
    if reason := disks.why_no_mounts():
        return f"not run: {reason}"
    with disks.tmpfs(folder / "disk", 64 << 10) as point:
        return space.writes_on_a_filling_disk(point, kilobytes=range(0, 96, 4), files=range(24), seed=options.seed)


def run_many(folder: Path, options: argparse.Namespace) -> object:
    return many.many_commits(folder, options.rounds or 3000)


def run_turns(folder: Path, options: argparse.Namespace) -> object:
    with Forked(folder / "processes") as forge:
        return turns.killed_in_lanes(forge, folder, options.rounds or 200, seed=options.seed)


def run_projects(folder: Path, options: argparse.Namespace) -> object:
    random_ones = projects.random_runs(folder, options.runs, seed=options.seed)
    with Forked(folder / "processes") as forge:
        killed = projects.killed_projects(forge, folder, options.kills or options.rounds or 100, seed=options.seed)
    return [random_ones, *killed]


def run_api(folder: Path, options: argparse.Namespace) -> object:
    # It needs the web framework and the tests' own server, which no other run does.
    from tests.support.soak import api, reconnects  # noqa: PLC0415

    places = [folder / name for name in ("reconnects", "strangers")]
    for place in places:
        place.mkdir()
    # First the one that starts processes: a server in this one would be running beside them.
    cut = reconnects.cut_and_killed(places[0], clients=10, cuts=100, kills=options.kills or 3, seed=options.seed)
    return [cut, api.strangers(places[1], options.rounds or 10_000, seed=options.seed)]


def run_load(folder: Path, options: argparse.Namespace) -> object:
    """The load of `script/bench load`, for long: in the second half the server does not grow any more."""
    from tests.support import load  # noqa: PLC0415 - as above

    found = load.loaded(folder, load.Crowd(seconds=options.seconds or 600))
    heard, minutes = found.heard, [statistics.fmean(part) / 1024 for part in _minutes(found.resident)]
    grown = load.growth(found.resident[len(found.resident) // 2 :])
    assert not found.errors, found.errors[:3]
    assert not found.unfinished, found.unfinished[:3]
    assert (heard.lost, heard.doubled, heard.unlike, heard.broken) == (0, 0, 0, 0), heard
    print(f"  megabytes, minute by minute: {', '.join(f'{each:.0f}' for each in minutes)}", flush=True)
    assert grown <= load.FLAT, f"it grew by {grown:.1f} % in the second half"
    return {"turns": found.turns, "events": heard.recorded, "growth in the second half": f"{grown:.1f} %"}


def run_hostile(folder: Path, options: argparse.Namespace) -> object:
    """Surroundings that mean no good, part by part."""
    names = [options.part] if options.part else hostile.PARTS
    return hostile.run_parts(folder, names, rounds=options.rounds, seed=options.seed)


def _minutes(each_second: Sequence[int]) -> Iterator[Sequence[int]]:
    return (each_second[start : start + 60] for start in range(0, len(each_second), 60))


RUNS: dict[str, Callable[[Path, argparse.Namespace], object]] = {
    "kills": run_kills,
    "kills-in-checkout": run_kills_in_checkout,
    "kills-of-branches": run_kills_of_branches,
    "steps": run_steps,
    "cleaning": run_cleaning,
    "cleaning-branches": run_cleaning_branches,
    "merges": run_merges,
    "side-merges": run_side_merges,
    "power": run_power,
    "space": run_space,
    "many": run_many,
    "turns": run_turns,
    "projects": run_projects,
    "api": run_api,
    "load": run_load,
    "hostile": run_hostile,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/soak", description="Long reliability runs.")
    parser.add_argument("name", nargs="?", choices=RUNS, help="one run; without it, all")
    parser.add_argument("--seconds", type=float, help="how long each run of rivals goes on")
    parser.add_argument("--rounds", type=int, help="how many kills, cuts or commits")
    parser.add_argument("--runs", type=int, default=1000, help="projects with an agent that answers at random")
    parser.add_argument("--kills", type=int, help="commands on projects that are killed")
    parser.add_argument("--part", choices=hostile.PARTS, help="one part of the hostile run; without it, all")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--directory", type=Path, help="where the repositories are made")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    failed = 0
    for name in [options.name] if options.name else RUNS:
        with tempfile.TemporaryDirectory(dir=options.directory, ignore_cleanup_errors=True) as folder:
            _private_home(Path(folder))
            failed += not _reported(name, Path(folder), options)
    return 1 if failed else 0


def _reported(name: str, folder: Path, options: argparse.Namespace) -> bool:
    began = time.monotonic()
    try:
        found = RUNS[name](folder, options)
    except (AssertionError, OSError, subprocess.SubprocessError) as e:
        print(f"{name}: FAILED after {time.monotonic() - began:.0f} s: {e}", flush=True)
        return False
    rows = list(found.items()) if isinstance(found, dict) else found if isinstance(found, list) else [found]
    print(f"{name}: {time.monotonic() - began:.0f} s", *rows, sep="\n  ", flush=True)
    return True


def _private_home(folder: Path) -> None:
    """git as it comes, whatever the developer has configured."""
    config = folder / "gitconfig"
    config.write_text(_GIT_CONFIG)
    os.environ |= {"HOME": str(folder), "GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1"}


if __name__ == "__main__":
    sys.exit(main())
