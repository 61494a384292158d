"""What projects cost: a change of their files against git itself, lists, and the whole way with recorded answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.timing import Figure, Row, compare
from forge.projects.project import Project
from forge.projects.workspace import Workspace

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_FEW, _MANY = 10, 200
_DURABLE = ("-c", "core.fsync=all", "-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")


def projects(root: Path) -> Iterator[Row | Figure]:
    workspace = Workspace(root / "workspace")
    project = workspace.create("Bench", now=_NOW)
    plain = root / "plain"
    subprocess.run(["git", "init", "-q", str(plain)], check=True)
    yield _changing(project, plain, "a new project")
    for number in range(500):
        _change(project, -1 - number)
    yield _changing(project, plain, "after 500 changes")
    yield from _listing(root)
    yield from _demo(root)


def _changing(project: Project, plain: Path, size: str) -> Row:
    return compare(
        "change two files of a project, durable",
        "git add && git commit",
        size,
        lambda number: _change(project, number),
        lambda number: _commit(plain, number),
        rounds=15,
        goal=1.0,
    )


def _change(project: Project, number: int) -> None:
    text = f"{number} {time.monotonic_ns()}\n"
    project.records.update(lambda _: {"docs/spec.md": text, "polish_log.md": text}, "bench")


def _commit(plain: Path, number: int) -> None:
    for name in ("spec.md", "polish_log.md"):
        (plain / name).write_text(f"{number} {time.monotonic_ns()}\n")
    subprocess.run(["git", *_DURABLE, "-C", str(plain), "add", "."], check=True)
    subprocess.run(["git", *_DURABLE, "-C", str(plain), "commit", "-qm", "bench"], check=True)


def _listing(root: Path) -> Iterator[Figure]:
    workspace = Workspace(root / "many")
    took = {}
    for count in range(1, _MANY + 1):
        workspace.create(f"Project {count}", now=_NOW)
        if count in (_FEW, _MANY):
            began = time.perf_counter()
            assert len(workspace.list()) == count
            took[count] = time.perf_counter() - began
    yield Figure("list projects", f"{_MANY}", took[_MANY] * 1000, "ms", 500)
    share = (took[_MANY] / _MANY) / (took[_FEW] / _FEW)
    yield Figure("one project in a list of 200 against one in a list of 10", "", share, "×", 1.5)


def _demo(root: Path) -> Iterator[Figure]:
    """From the brain dump to the finished branch: real repository, real tests, real guards."""
    environ = {**os.environ, "FORGE_WORKSPACE": str(root / "demo"), "FORGE_DATA": str(root / "demo-data")}
    began = time.perf_counter()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("forge")), "demo", "--json"],
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    )
    took = time.perf_counter() - began
    outcome = json.loads(done.stdout)
    assert outcome["phase"] == "done", outcome
    size = f"{len(outcome['rounds'])} rounds, {outcome['tests']['total']} tests"
    yield Figure("raw dump → finished branch, recorded model", size, took, "s", 30)
