"""A workspace with a project in it, and a frozen clock."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forge.pipeline.draft import Draft
from forge.projects.project import Project
from forge.projects.workspace import Workspace

NOW = datetime(2026, 2, 14, 10, 30, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def project(workspace: Workspace, now: datetime) -> Project:
    return workspace.create("Harbour Lights", now=now)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: death of a process needs no slow disk."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


def drafted(project: Project, what: Callable[[Draft], None], *, now: datetime = NOW) -> None:
    """Change a project's files in one commit, as everything that changes one does."""

    def change(read: Callable[[str], str | None]) -> dict[str, str | bytes | None]:
        draft = Draft(read, now.timestamp())
        what(draft)
        return dict(draft.files())

    project.records.update(change, "drafted")
