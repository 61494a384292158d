"""Whatever an agent does: never done while the last recorded check failed, was missing, or is of another commit."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forge.projects.project import Project
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.support.project_runs import CODE_CONSTRAINTS, CODE_INTENT, CODE_SPEC, at_phase
from tests.support.random_project_runs import run_once

_RUNS = 16


@pytest.mark.slow
@pytest.mark.req("P-09", "P-10")
def test_random_runs_are_never_done_without_evidence(tmp_path: Path) -> None:
    ready = Workspace(tmp_path).create("Code", agent="scripted", now=datetime(2026, 1, 1, tzinfo=UTC))
    files = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}
    at_phase(ready, Phase.BUILDING, files, kind="code")
    ends: Counter[str] = Counter()
    for seed in range(_RUNS):
        place = tmp_path / "runs" / str(seed)
        shutil.copytree(ready.directory, place, symlinks=True)
        ended = run_once(seed, Project.at(place))
        assert not ended.wrong, f"seed {seed}: {ended.wrong}"
        ends[ended.phase] += 1
        shutil.rmtree(place, ignore_errors=True)  # maintenance of a repository may still write
    # The agents must reach both ends, or this proves nothing.
    assert ends["done"] >= 2
    assert ends["halted"] >= 1
