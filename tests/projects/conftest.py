"""A workspace with a project in it, and a frozen clock."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from forge.projects import Project, Workspace

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
