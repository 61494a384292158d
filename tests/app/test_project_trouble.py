"""When things go wrong around a project: broken files, a full disk, a wrong clock, two processes at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import restarted
from forge.app.projects.messages import say
from forge.app.projects.view import view
from forge.pipeline.actions import Action
from forge.pipeline.answerer import Task
from forge.projects.errors import ProjectUnwritable
from forge.projects.project import Project
from tests.conftest import Git
from tests.support.forked_commands import Forked
from tests.support.scripted_projects import (
    CLEAR,
    Office,
    Script,
    at_specification,
    by_stand_in,
    new,
    office,
    pressed,
    said,
    script,
    seen,
)

__all__ = ["office", "script"]

FILES = ("status.json", "chat_history.json", "polish_state.json", "project.json", "polish_rounds.jsonl", "state.json")


async def finished(shop: Workshop) -> Project:
    project = await at_specification(shop)
    await pressed(shop, project, Action.CONFIRM)
    return project


@pytest.mark.req("P-11", "W-04", "X-04")
def test_a_broken_or_missing_file_comes_from_history_and_the_person_is_told(office: Office, script: Script) -> None:
    project = office.do(finished)
    shown = view(None, project)
    assert (shown.phase, len(shown.rounds)) == ("done", 1)
    for file in FILES:
        path = project.directory / file
        good = path.read_text()
        for damage in ('{"half": ', None):
            if damage is None:
                path.unlink()
            else:
                path.write_text(damage)
            opened = office.project("party")
            told = opened.records.take_in().recovered
            assert len(told) == 1, (file, damage, told)
            assert told[0].startswith(f"{file} ")
            assert "restored from history" in told[0]
            assert path.read_text() == good
            assert view(None, opened) == shown, f"{file}: something was lost"

    # Broken while Forge looks at it, it is mended all the same, and told later.
    for file in ("status.json", "polish_rounds.jsonl"):
        (project.directory / file).write_text("[")
        assert view(None, project) == shown
    assert [sentence.split()[0] for sentence in project.records.take_in().recovered] == [
        "status.json",
        "polish_rounds.jsonl",
    ]


@pytest.mark.req("W-04", "P-11")
def test_files_of_an_older_version_go_on(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop)
        info = json.loads((project.directory / "project.json").read_text())
        for name in ("phase_times", "phase_entered", "halted_in", "locked", "archived"):
            info.pop(name, None)
        (project.directory / "project.json").write_text(json.dumps(info))
        state = json.loads((project.directory / "state.json").read_text())
        old = {"schema_version": "0.9", "project_name": "Party", "messages": state["messages"]}
        (project.directory / "state.json").write_text(json.dumps(old))
        assert "another version of Forge" in project.state().warning
        assert (await pressed(shop, project, Action.DISTILL)).phase == "human_review"
        assert (await pressed(shop, project, Action.CONFIRM)).phase == "spec_building"
        assert project.state().values["messages"][: len(state["messages"])] == state["messages"]
        assert project.state().warning == ""

    office.do(use)


@pytest.mark.req("X-04", "P-11")
def test_a_full_disk_stops_with_a_clear_reason_and_the_run_is_resumed_later(
    office: Office, script: Script, monkeypatch: pytest.MonkeyPatch, git: Git
) -> None:
    full = SimpleNamespace(f_bavail=0, f_frsize=4096)

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        with monkeypatch.context() as disk:
            disk.setattr("forge.projects.records.os.statvfs", lambda _: full)
            before = git(project.directory, "rev-parse", "HEAD")
            with pytest.raises(ProjectUnwritable, match="disk is full"):
                await say(shop, project, "One more thing.")
            with pytest.raises(ProjectUnwritable, match="disk is full"):
                await pressed(shop, project, Action.DISTILL)
            assert git(project.directory, "rev-parse", "HEAD") == before
        assert view(shop, project).phase == "brain_dump"

        def fill(task: Task) -> str:
            monkeypatch.setattr("forge.projects.records.os.statvfs", lambda _: full)
            del script.answers["brain-dump-intake"]
            return by_stand_in(task)

        script.answers["brain-dump-intake"] = fill
        failed = await pressed(shop, project, Action.DISTILL)
        assert project.status().phase == "distilling", "the files could not be written"
        assert (failed.phase, failed.busy, failed.halt_reason) == ("halted", False, "file_system_error")
        assert "disk is full" in failed.question
        assert git(project.directory, "status", "--porcelain") == ""
        monkeypatch.undo()
        again = await restarted(shop, project)
        assert again is not None
        assert (await seen(shop, project, again)).phase == "human_review"
        assert git(project.directory, "fsck", "--strict") == ""

    office.do(use)


@pytest.mark.req("X-04", "W-01")
def test_a_read_only_project_is_shown_and_nothing_is_half_written(office: Office) -> None:
    project = office.do(new)
    before = {path: path.read_bytes() for path in project.directory.glob("*.json")}
    with _read_only(project.directory / ".git"):
        opened = office.project("party")
        assert view(None, opened).phase == "brain_dump"
        with pytest.raises(ProjectUnwritable):
            office.do(lambda shop: said(shop, opened, "One more thing."))
    assert {path: path.read_bytes() for path in project.directory.glob("*.json")} == before
    assert office.do(lambda shop: said(shop, office.project("party"), "One more thing.")).phase == "brain_dump"
    assert project.chat()[-1].content == "One more thing."


class _read_only:  # noqa: N801 - used like a function
    """Also for root, who may write everywhere: the lock cannot be opened for writing."""

    def __init__(self, git_dir: Path) -> None:
        self._lock = git_dir / "forge/records.lock"

    def __enter__(self) -> None:
        self._kept = self._lock.read_bytes()
        self._lock.unlink()
        self._lock.mkdir()

    def __exit__(self, *_: object) -> None:
        self._lock.rmdir()
        self._lock.write_bytes(self._kept)


@pytest.mark.req("X-04")
def test_a_clock_that_jumps_by_a_day_between_two_commands_harms_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    days = iter((0, 1, -1, 1))

    def at_another_time(use: Callable[[Workshop], Any]) -> Any:
        skew = next(days) * 86_400
        with monkeypatch.context() as clock:
            clock.setattr(time, "time", lambda: real() + skew)
            return office.do(use)

    project = at_another_time(new)
    assert at_another_time(lambda shop: pressed(shop, project, Action.DISTILL)).phase == "human_review"
    assert at_another_time(lambda shop: pressed(shop, project, Action.CONFIRM)).phase == "spec_building"
    done = at_another_time(lambda shop: pressed(shop, project, Action.CONFIRM))
    assert done.label.startswith("Outline ready")
    assert all(seconds >= 0 for seconds in done.phase_times.values())


@pytest.mark.req("P-12", "X-04")
def test_two_processes_on_one_project_press_once_and_lose_no_word(forked: Forked, office: Office, git: Git) -> None:
    project = office.do(new)
    environ = {**os.environ, **office.environ}
    both = [forked.start("project", "say", "party", "-m", f"Thought {n}.", "--json", environ=environ) for n in (1, 2)]
    assert [one.wait() for one in both] == [0, 0], [one.complaints for one in both]
    assert sorted(m.content for m in project.chat() if m.role == "human") == sorted([CLEAR, "Thought 1.", "Thought 2."])

    both = [forked.start("project", "distill", "party", "--json", environ=environ) for _ in (1, 2)]
    assert [one.wait() for one in both] == [4, 4], [one.complaints for one in both]
    shown = [json.loads(one.output.read_text()) for one in both]
    assert [one["phase"] for one in shown] == ["human_review", "human_review"]
    subjects = git(project.directory, "log", "--format=%s").splitlines()
    assert (subjects.count("distill: by a person"), subjects.count("intent: distilled")) == (1, 1)
    assert git(project.directory, "fsck", "--strict") == ""
