"""The workspace: making, finding, naming and putting away projects."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from forge.projects import names
from forge.projects.errors import (
    DeletionUnconfirmed,
    InvalidProjectName,
    ProjectAmbiguous,
    ProjectExists,
    ProjectMissing,
)
from forge.projects.project import Project
from forge.projects.records import Records
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.conftest import Git


@pytest.mark.req("W-02")
@pytest.mark.parametrize(
    ("typed", "directory"),
    [
        ("Campaign Analysis: Q3 (Final)", "campaign-analysis-q3-final"),
        ("Bob's Project / v2", "bobs-project-v2"),
        ("  spaced   out\tname ", "spaced-out-name"),
        ("--a -- b--", "a-b"),
        ("Übergröße", "bergre"),
        ("日本語", "untitled-project"),
        ("../../etc/passwd", "etcpasswd"),
        ("", "untitled-project"),
    ],
)
def test_a_typed_name_becomes_a_safe_directory(typed: str, directory: str) -> None:
    assert names.slug(typed) == directory


@pytest.mark.req("W-01", "P-02")
def test_a_new_project_has_its_folders_its_files_and_a_first_commit(
    workspace: Workspace, now: datetime, git: Git
) -> None:
    project = workspace.create("Bob's Project / v2", agent="claude", now=now)
    assert project.directory == workspace.directory / "projects" / "bobs-project-v2"
    assert project.id.startswith("20260214-")
    assert len(project.id) == 13
    assert project.name == "Bob's Project / v2"
    assert project.status().project_name == ""
    assert (project.status().phase, project.status().agent) == (Phase.BRAIN_DUMP, "claude")
    assert project.chat() == ()
    assert {p.name for p in project.directory.iterdir()} == {
        ".git",
        ".gitignore",
        "artifacts",
        "chat_history.json",
        "docs",
        "project.json",
        "resources",
        "state.json",
        "status.json",
    }
    assert git(project.directory, "log", "--format=%s") == "project: Bob's Project / v2"
    assert git(project.directory, "status", "--porcelain") == ""
    assert [p.name for p in workspace.projects.iterdir()] == ["bobs-project-v2"]


@pytest.mark.req("P-02")
def test_a_project_without_a_name_is_called_by_its_id_until_it_has_a_heading(
    workspace: Workspace, now: datetime
) -> None:
    project = workspace.create(None, now=now)
    assert project.directory.name == project.id == project.name

    def named(read: object) -> dict[str, str]:
        text = (project.directory / "status.json").read_text()
        return {"status.json": text.replace('"project_name": ""', '"project_name": "A Heading"')}

    project.records.update(named, "status: named")
    assert project.name == "A Heading"


@pytest.mark.req("P-02")
def test_an_id_that_is_taken_is_not_given_again(
    workspace: Workspace, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = iter(["a3f2", "a3f2", "a3f2", "0001"])
    real = names.secrets.token_hex
    monkeypatch.setattr(names.secrets, "token_hex", lambda size: next(given) if size == 2 else real(size))
    assert workspace.create("One", now=now).id == "20260214-a3f2"
    assert workspace.create("Two", now=now).id == "20260214-0001"


@pytest.mark.req("W-02")
@pytest.mark.parametrize(
    "name", ["a\nb", "a\r\nb", "tab\there", "bell\x07", "\x1b[31mred", "a\u2028b", "right\u202eleft", ".", " .. "]
)
def test_a_name_that_cannot_be_shown_on_one_line_is_refused(workspace: Workspace, now: datetime, name: str) -> None:
    made = workspace.create("Fine", now=now)
    with pytest.raises(InvalidProjectName) as refused:
        workspace.create(name, now=now)
    assert refused.value.hint
    with pytest.raises(InvalidProjectName):
        workspace.rename("fine", name, now=now)
    assert [project.directory for project in workspace.list(archived=True)] == [made.directory]
    assert Workspace(workspace.directory).open("fine").name == "Fine"


@pytest.mark.req("W-02")
@pytest.mark.parametrize("name", ["...", "<b>&amp;", "日本 🎉", "👩‍👩‍👧", "שלום\u200f", "-- / \\ --", "née\u0301"])
def test_a_name_of_unusual_characters_is_kept_as_it_was_typed(workspace: Workspace, now: datetime, name: str) -> None:
    assert workspace.rename(workspace.create(name, now=now).id, f" {name} ", now=now).name == name


@pytest.mark.req("W-02")
def test_a_second_project_of_the_same_slug_is_refused_and_changes_nothing(
    workspace: Workspace, project: Project, now: datetime
) -> None:
    tip = project.records.tip()
    with pytest.raises(ProjectExists) as refused:
        workspace.create("harbour LIGHTS!", now=now)
    assert "harbour-lights" in refused.value.message
    assert refused.value.hint
    assert Records.open(project.directory).tip() == tip
    assert len(list(workspace.projects.iterdir())) == 1


@pytest.mark.req("W-01")
def test_a_project_that_could_not_be_finished_leaves_nothing(
    workspace: Workspace, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise ProjectMissing("no")

    monkeypatch.setattr(Records, "init", failing)
    with pytest.raises(ProjectMissing):
        workspace.create("Nothing", now=now)
    assert list(workspace.projects.iterdir()) == []


@pytest.mark.req("W-01")
def test_what_a_crash_left_of_a_new_project_is_swept_later(workspace: Workspace, now: datetime) -> None:
    left = workspace.projects / ".new-20260101-0000-1"
    left.mkdir(parents=True)
    assert len(workspace.list()) == 0
    workspace.create("One", now=now)
    assert left.exists()
    os.utime(left, (0, 0))
    workspace.create("Two", now=now)
    assert not left.exists()


@pytest.mark.req("W-08")
def test_the_list_has_the_last_change_first_also_one_by_hand(workspace: Workspace, now: datetime) -> None:
    made = [workspace.create(name, now=now) for name in ("One", "Two", "Three")]
    for age, project in enumerate(made):
        _age(project.directory, 1_000_000 - 100 * age)
    assert [p.name for p in workspace.list()] == ["One", "Two", "Three"]
    (made[2].directory / "docs/idea.md").write_text("by hand")
    assert [p.name for p in workspace.list()] == ["Three", "One", "Two"]


@pytest.mark.req("W-08")
def test_a_broken_project_is_named_and_hides_no_other(workspace: Workspace, project: Project) -> None:
    broken = workspace.projects / "broken"
    broken.mkdir()
    (broken / "project.json").write_text("{")
    (workspace.projects / "notes").mkdir()
    (workspace.projects / "stray.txt").write_text("x")
    found = workspace.list()
    assert [p.id for p in found] == [project.id]
    assert len(found.broken) == 1
    assert found.broken[0].startswith("broken: ")


@pytest.mark.req("W-08")
def test_a_project_is_found_by_directory_id_name_and_beginning(workspace: Workspace, now: datetime) -> None:
    one = workspace.create("Harbour Lights", now=now)
    two = workspace.create("Harbour Wall", now=now)
    workspace.create("Harbour", now=now)
    for which in ("harbour-lights", one.id, "Harbour Lights", "HARBOUR LIGHTS", "harbour-l"):
        assert workspace.open(which).id == one.id
    assert workspace.open("harbour").name == "Harbour"
    assert workspace.open(two.id[:13]).id == two.id
    with pytest.raises(ProjectAmbiguous):
        workspace.open("harb")
    for which in ("nothing", "", "../projects/harbour", "."):
        with pytest.raises(ProjectMissing):
            workspace.open(which)


@pytest.mark.req("W-08")
def test_a_renamed_project_keeps_its_directory(workspace: Workspace, project: Project, now: datetime, git: Git) -> None:
    workspace.rename("harbour-lights", "Sea Wall", now=now)
    again = workspace.open("sea wall")
    assert (again.name, again.status().project_name) == ("Sea Wall", "Sea Wall")
    assert again.directory == project.directory
    assert git(project.directory, "log", "-1", "--format=%s") == "project: renamed to Sea Wall"


@pytest.mark.req("W-08")
def test_an_archived_project_is_out_of_the_list_and_comes_back(workspace: Workspace, project: Project) -> None:
    workspace.archive("harbour-lights")
    assert len(workspace.list()) == 0
    assert [p.id for p in workspace.list(archived=True)] == [project.id]
    assert workspace.open(project.id).info().archived
    workspace.unarchive("harbour-lights")
    assert len(workspace.list()) == 1


@pytest.mark.req("W-08")
def test_a_deletion_needs_the_name_and_destroys_nothing(workspace: Workspace, project: Project, now: datetime) -> None:
    with pytest.raises(DeletionUnconfirmed):
        workspace.delete("harbour-lights", confirm="Harbour Lights")
    assert len(workspace.list()) == 1
    tip = project.records.tip()
    place = workspace.delete(project.id, confirm="harbour-lights")
    assert place.parent == workspace.directory / "deleted"
    assert place.name.startswith("harbour-lights-")
    assert Records.open(place).tip() == tip
    assert len(workspace.list()) == 0
    again = workspace.create("Harbour Lights", now=now)
    assert workspace.delete("harbour-lights", confirm="harbour-lights") != place
    assert not again.directory.exists()


def _age(directory: Path, seconds: int) -> None:
    for folder, _, files in os.walk(directory):
        if ".git" not in Path(folder).parts:
            for name in files:
                os.utime(Path(folder, name), (seconds, seconds))
