"""What whole code projects take with a scripted model: calls and tokens where it is good, rounds where it is bad."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure
from tests.support.bad_models import bad_scenarios
from tests.support.code_scenarios import (
    BROKEN_TEST,
    NODE,
    PYTHON,
    Ended,
    Scenario,
    many_files,
    node_work,
    pytest_work,
    sample_work,
    unpacked,
)

_LARGE = 20_000
_BEFORE = {"Python, a test failed before": 12, "JavaScript, a test failed before": 9}
"""Calls of a model, measured at commit abfca90, where runs had no baseline. The first task then waited for a
person; the second was not begun.
"""
_SHARE = 0.6
_MOST_ROUNDS = 3
_SAMPLE = {"sample.csv": "1h30m,5400\n45s,45\n"}
GOOD = (
    Scenario("new project", is_new=True),
    Scenario("Python, a test failed before", {**PYTHON, "test_broken.py": BROKEN_TEST}),
    Scenario("JavaScript, a test failed before", NODE, node_work),
    Scenario("plan → code, with a sample", PYTHON, sample_work, resources=_SAMPLE, plan="# Plan\n\nParse durations.\n"),
    Scenario(f"{_LARGE:,} files", many_files(_LARGE)),
)


def pipeline(root: Path) -> Iterator[Figure]:
    for number, scenario in enumerate(GOOD):
        yield from _good(scenario, scenario.run(_place(root, f"good-{number}")))
    yield from _distributions(root)
    for number, (name, scenario) in enumerate(bad_scenarios().items()):
        ended = scenario.run(_place(root, f"bad-{number}"))
        if ended.seen.phase == "done":
            raise AssertionError(f"A model that {name} was called done.")
        yield Figure("bad model: rounds until it is stopped", name, len(ended.seen.rounds), "rounds", _MOST_ROUNDS)
        yield Figure("bad model: calls until it is stopped", name, ended.model.calls, "calls")


def _place(root: Path, name: str) -> Path:
    place = root / name
    place.mkdir()
    return place


def _good(scenario: Scenario, ended: Ended) -> Iterator[Figure]:
    if ended.seen.phase != "done":
        raise AssertionError(f"{scenario.name} ended as {ended.seen.label}: {ended.reason}")
    case = f"{scenario.name}: {ended.seen.label.lower()}"
    before = _BEFORE.get(scenario.name)
    goal = _SHARE * before if before is not None else None
    yield Figure("code project: calls of a model", case, ended.model.calls, "calls", goal)
    yield Figure("code project: tokens sent and received", case, ended.model.tokens / 1000, "thousand")
    yield Figure("code project: time", case, ended.seconds, "s")
    if before is not None:
        each = len(ended.model.asked("turn")) / len(ended.model.orders)
        yield Figure("code project: calls of the builder for a task", case, each, "calls")


def _distributions(root: Path) -> Iterator[Figure]:
    """Of packages as they are published, each with the environment that Forge proposes and sets up for it."""
    for name in ("attrs", "click"):
        place = _place(root, name)
        archive = _downloaded(name, place)
        if archive is None:
            print(f"  {name}: not measured, its source distribution cannot be downloaded", file=sys.stderr)
            continue
        code = unpacked(archive, place / "source")
        if not _set_up(code, place):
            raise AssertionError(f"The environment of {name} could not be set up.")
        scenario = Scenario(f"{name} sdist", work=pytest_work)
        ended = scenario.run(place, code)
        yield from _good(scenario, ended)
        assert ended.seen.tests is not None
        yield Figure("code project: tests that ran", scenario.name, ended.seen.tests["total"], "tests")


def _downloaded(name: str, place: Path) -> Path | None:
    python = shutil.which("python3") or sys.executable
    command = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", str(place), name]
    done = subprocess.run(command, check=False, capture_output=True)
    return next(place.glob("*.tar.gz"), None) if done.returncode == 0 else None


def _set_up(code: Path, place: Path) -> bool:
    """As a person does who approves what the branch needs."""
    program = str(Path(sys.executable).with_name("forge"))
    environ = {**os.environ, "FORGE_DATA_DIR": str(place / "office" / "data")}
    command = [program, "-C", str(code), "env", "setup", "--yes", "--direct"]
    return subprocess.run(command, env=environ, check=False, capture_output=True).returncode == 0
