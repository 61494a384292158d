"""Files that are torn, corrupt or missing: the last good version comes back and nothing is thrown away."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from forge.projects.errors import ProjectUnreadable
from forge.projects.project import Project
from forge.projects.records import Records
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.conftest import Git

pytestmark = pytest.mark.req("W-04")
NOW = datetime(2026, 2, 14, tzinfo=UTC)
FORMS = (
    "project.json",
    "state.json",
    "status.json",
    "chat_history.json",
    "polish_state.json",
    ".claude/initiative.json",
)
POLISHED = (
    '{"iteration": 0, "error_counts": {}, "convergence_trajectory": [], "tests_passed": null,'
    ' "timestamp": "", "completed": false, "halt_reason": null}'
)


@pytest.fixture
def records(project: Project) -> Records:
    project.records.update(lambda _: {"polish_state.json": POLISHED, ".claude/initiative.json": "{}"}, "more")
    return project.records


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("broken", [b"", b'{"id": "2026', b"[1]x", b"\xff\xfe{}", b'"text"'])
def test_a_broken_file_comes_from_history_and_its_bytes_are_kept(
    records: Records, git: Git, path: str, broken: bytes
) -> None:
    good = records.read(path)
    (records.directory / path).write_bytes(broken)
    taken = records.take_in()
    assert records.read(path) == good
    assert (records.directory / f"{path}.broken-1").read_bytes() == broken
    assert len(taken.recovered) == 1
    assert path in taken.recovered[0]
    assert "history" in taken.recovered[0]
    assert git(records.directory, "log", "-1", "--format=%an|%s") == f"Forge|recover: {path}"
    assert git(records.directory, "status", "--porcelain") == ""
    assert records.take_in().recovered == ()


@pytest.mark.parametrize("path", FORMS)
def test_a_missing_file_comes_from_history(records: Records, git: Git, path: str) -> None:
    good, tip = records.read(path), records.tip()
    (records.directory / path).unlink()
    assert "was missing" in records.take_in().recovered[0]
    assert records.read(path) == good
    assert records.tip() == tip


def test_a_second_break_gets_a_number_of_its_own(records: Records) -> None:
    for number, broken in ((1, "{"), (2, "{{"), (1, "{")):
        (records.directory / "state.json").write_text(broken)
        assert f"state.json.broken-{number}" in records.take_in().recovered[0]
    assert not (records.directory / "state.json.broken-3").exists()


def test_a_good_edit_beside_a_broken_file_is_still_the_persons(records: Records, git: Git) -> None:
    (records.directory / "state.json").write_text("{")
    (records.directory / "docs/intent.md").write_text("# Mine")
    taken = records.take_in()
    assert taken.files == ("docs/intent.md",)
    assert git(records.directory, "log", "-2", "--format=%an|%s").splitlines() == [
        "Forge|recover: state.json",
        "Ada Example|edit: docs/intent.md",
    ]


def test_a_broken_version_that_was_committed_is_passed_over(records: Records, git: Git) -> None:
    good = records.read("status.json")
    (records.directory / "status.json").write_text("{")
    git(records.directory, "commit", "-qam", "oops")
    (records.directory / "status.json").write_text("{{")
    assert records.take_in().recovered
    assert records.read("status.json") == good
    assert git(records.directory, "show", "HEAD:status.json") + "\n" == good


def test_a_file_that_was_never_good_is_set_aside(records: Records) -> None:
    (records.directory / ".claude/interview-state.json").write_text("nonsense")
    assert "no good version" in records.take_in().recovered[0]
    assert records.read(".claude/interview-state.json") is None
    assert records.read(".claude/interview-state.json.broken-1") == "nonsense"


def test_what_a_write_recovered_is_told_at_the_next_look(records: Records) -> None:
    (records.directory / "state.json").write_text("{")
    records.update(lambda read: {"seen.md": read("state.json")}, "write")
    assert json.loads(records.read("seen.md") or "")["schema_version"] == "1.0"
    assert "state.json" in records.take_in().recovered[0]
    assert records.take_in().recovered == ()


def test_another_schema_version_is_not_broken(records: Records, project: Project) -> None:
    saved = json.loads(records.read("state.json") or "") | {"schema_version": "7.3", "novelty": 1}
    (records.directory / "state.json").write_text(json.dumps(saved))
    taken = records.take_in()
    assert (taken.files, taken.recovered) == (("state.json",), ())
    assert "7.3" in project.state().warning


def test_a_byte_order_mark_is_no_damage(records: Records, project: Project) -> None:
    place = records.directory / "status.json"
    place.write_bytes(b"\xef\xbb\xbf" + place.read_bytes())
    assert records.take_in().recovered == ()
    assert project.status().phase is Phase.BRAIN_DUMP


@pytest.mark.parametrize("path", ["status.json", "project.json", "state.json"])
def test_reading_a_broken_file_recovers_it_by_itself(workspace: Workspace, project: Project, path: str) -> None:
    (project.directory / path).write_text("{")
    opened = workspace.open("harbour-lights")
    assert (opened.status().phase, opened.id, opened.name) == (Phase.BRAIN_DUMP, project.id, "Harbour Lights")
    assert (project.directory / f"{path}.broken-1").exists()


def test_a_repository_of_somebody_else_is_never_written_to(workspace: Workspace, git: Git) -> None:
    foreign = workspace.projects / "foreign"
    foreign.mkdir(parents=True)
    git(foreign, "init", "-q")
    (foreign / "project.json").write_text('{"name": "some other tool"}')
    assert workspace.list().broken
    with pytest.raises(ProjectUnreadable):
        workspace.open("foreign")
    assert not (foreign / ".git/refs/heads/main").exists()
    assert [p.name for p in foreign.iterdir() if p.name != ".git"] == ["project.json"]
