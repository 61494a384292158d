"""Disks that are full, read-only or fail: a plain error, and nothing half-written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from forge.projects.errors import ProjectUnwritable
from forge.projects.project import Project
from forge.projects.records import Records
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.conftest import Git
from tests.projects.conftest import drafted

pytestmark = pytest.mark.req("W-03")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def failing_from(monkeypatch: pytest.MonkeyPatch, first: int, code: int) -> None:
    """From its `first` call on, everything that needs room on the disk fails."""
    done = 0

    def patched(call: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            done += 1
            if done >= first:
                raise OSError(code, os.strerror(code))
            return call(*args, **kwargs)

        return counted

    for name in ("fsync", "fdatasync", "replace", "rename", "link"):
        monkeypatch.setattr(os, name, patched(getattr(os, name)))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_fails_on_the_way_leaves_none_or_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Git, code: int
) -> None:
    before, after = ("old", None), ("new", "more")
    records = Records.init(tmp_path / "p", {"docs/spec.md": "old"}, "project: p")
    refused = 0
    for first in range(1, 60):
        opened = Records.open(records.directory)
        with monkeypatch.context() as patch:
            failing_from(patch, first, code)
            try:
                opened.update(lambda _: {"docs/spec.md": "new", "docs/more.md": "more"}, "both")
                break
            except ProjectUnwritable as e:
                refused += bool(e.hint)
        again = Records.open(records.directory)
        assert again.take_in().files == ()
        found = (again.read("docs/spec.md"), again.read("docs/more.md"))
        assert found in (before, after), first
        assert git(records.directory, "status", "--porcelain") == "", first
        if found == after:
            git(records.directory, "reset", "-q", "--hard", "HEAD~1")
    assert refused > 5
    assert set(git(records.directory, "log", "--format=%an").splitlines()) == {"Forge"}


def test_a_nearly_full_disk_is_noticed_before_anything_is_touched(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, real = project.records.tip(), os.statvfs
    full = list(real(project.directory))
    full[4] = 8
    monkeypatch.setattr(os, "statvfs", lambda place: os.statvfs_result(full))
    with pytest.raises(ProjectUnwritable) as refused:
        project.records.update(lambda _: {"x.md": "x"}, "x")
    assert "full" in refused.value.message
    monkeypatch.setattr(os, "statvfs", real)
    assert (project.records.tip(), project.records.read("x.md")) == (tip, None)
    assert not (project.directory / ".git/forge/records-pending").exists()


def test_a_project_on_a_read_only_disk_can_be_read(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def read_only(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & _WRITING:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", read_only)
    opened = workspace.open("harbour-lights")
    assert opened.status().phase is Phase.BRAIN_DUMP
    assert opened.records.read("status.json")
    with pytest.raises(ProjectUnwritable) as refused:
        drafted(opened, lambda draft: draft.move(Phase.DISTILLING))
    assert "read-only" in refused.value.message
    assert not opened.log.write("info", "phase_transition", "distilling", "to distilling")
    assert "forge.log" in (opened.log.failure or "")
