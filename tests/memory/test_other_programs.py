"""State files of another program are read, followed and kept in their form; warnings are in the words people know."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from forge.memory import Memory, Source, Status
from tests.memory.conftest import NOON, Clock, codes

THEIRS = {
    "name": "Checkout",
    "status": "in_progress",
    "currentMilestone": "M2",
    "lastUpdated": "2026-03-01T11:00:00Z",
    "progress": {"completed": 1, "total": 4, "unit": "tasks"},
    "team": ["Ann"],
}


def written(directory: Path, **more: object) -> Path:
    place = directory / ".claude/initiative.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps({**THEIRS, **more}))
    return place


def document(directory: Path) -> dict[str, Any]:
    return dict(json.loads((directory / ".claude/initiative.json").read_text()))


@pytest.mark.req("M-01", "M-03")
def test_the_file_of_another_program_is_read_and_its_form_kept(memory: Memory, tmp_path: Path) -> None:
    written(tmp_path)
    found = memory.read()
    assert found.initiative is not None
    assert found.warnings == ()
    assert (found.source, found.initiative.title, found.initiative.milestone) == (Source.FILE, "Checkout", "M2")
    memory.milestone_started("M2", "Pay", total=2)
    memory.task_completed("M2")
    kept = document(tmp_path)
    assert list(THEIRS) == [key for key in THEIRS if key in kept], "a key is gone"
    assert (kept["name"], kept["team"], kept["currentMilestone"]) == ("Checkout", ["Ann"], "M2")
    assert kept["progress"] == {"completed": 1, "total": 2, "unit": "tasks"}
    assert not list((tmp_path / ".claude").glob("initiatives/*"))
    assert not list((tmp_path / ".claude").glob("*.broken-*"))


@pytest.mark.req("M-04")
def test_the_newest_file_wins_although_it_has_no_counter(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    memory.start("Checkout", "APEX")
    memory.change_status(Status.IN_PROGRESS)
    mine = document(tmp_path)
    for key in ("counter", "owed", "steps"):
        del mine[key]
    mine |= {"status": "blocked", "lastUpdated": "2026-03-01T12:30:00Z"}
    (tmp_path / ".claude/initiative.json").write_text(json.dumps(mine))
    clock.pass_(hours=1)
    resumed = memory.resume()
    assert resumed.initiative is not None
    assert (resumed.source, resumed.initiative.status) == (Source.FILE, Status.BLOCKED)
    assert "WORKFLOW-STATUS.yaml" in resumed.brought_up
    assert "status: blocked" in (tmp_path / "WORKFLOW-STATUS.yaml").read_text()
    memory.change_status(Status.IN_PROGRESS)
    again = memory.resume()
    assert again.initiative is not None
    assert (again.initiative.status, again.warnings) == (Status.IN_PROGRESS, ())


@pytest.mark.req("M-04")
def test_a_wrong_clock_does_not_lose_the_later_write_and_is_told(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    memory.start("Checkout", "APEX")
    memory.change_status(Status.IN_PROGRESS)
    old = (tmp_path / "WORKFLOW-STATUS.yaml").read_bytes()
    clock.now = NOON.replace(hour=9)
    memory.change_status(Status.BLOCKED)
    (tmp_path / "WORKFLOW-STATUS.yaml").write_bytes(old)
    resumed = memory.resume()
    assert resumed.initiative is not None
    assert resumed.initiative.status is Status.BLOCKED
    assert "initiative_clock" in codes(resumed.warnings)


@pytest.mark.req("M-06")
def test_a_learning_is_kept_and_it_is_told_that_state_files_cannot_be_written(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("in the way\n")
    result = memory.learn("Ask twice.")
    assert result.saved
    assert "Ask twice." in (tmp_path / "MEMORY.md").read_text()
    (loud,) = result.warnings
    assert loud.prominent
    assert loud.message.startswith("ERROR: Cannot write state files — workflow state will not persist")


@pytest.mark.req("M-06")
def test_auto_memory_that_is_away_is_told_in_these_words(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").mkdir()
    told = [each.message for each in memory.learn("Ask twice.").warnings]
    assert any(message.startswith("Auto-memory unavailable — learnings will not persist") for message in told)


@pytest.mark.req("M-04")
def test_a_stale_state_is_told_in_these_words(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    memory.start("Checkout", "APEX")
    old = (tmp_path / "WORKFLOW-STATUS.yaml").read_bytes()
    clock.pass_(minutes=10)
    memory.change_status(Status.IN_PROGRESS)
    (tmp_path / "WORKFLOW-STATUS.yaml").write_bytes(old)
    clock.pass_(hours=2)
    (told,) = memory.resume().warnings
    assert told.message.startswith("Initiative state may be stale — last updated 2 hours ago")


STATUSES = {"M1": "completed", "M2": "in_progress", "M3": "pending"}


@pytest.mark.req("M-01", "M-03")
def test_a_progress_that_has_a_status_for_each_milestone_is_read_and_brought_along(
    memory: Memory, tmp_path: Path
) -> None:
    written(tmp_path, progress=STATUSES)
    found = memory.read()
    assert found.initiative is not None
    assert {each.id: each.status.value for each in found.initiative.milestones} == STATUSES
    memory.milestone_completed("M2")
    assert document(tmp_path)["progress"] == {**STATUSES, "M2": "completed"}


YAML_OF_OTHERS = """\
---
# Kept by the team. Do not sort.
status: in-progress   # created, in-progress, blocked
name: "Checkout"
owners:
    - ann      # decides
    - bob
current_milestone: M2
milestone_notes: >
  Pay first,
  then ship.
progress:
  M1: completed
  M2: in_progress    # since Monday
last_updated: 2026-03-01T11:00:00Z
links: {board: 'https://example.org/b', "chat": null}
# the end
"""


@pytest.mark.req("M-01", "M-03", "M-04")
def test_a_status_file_of_another_program_is_read_and_stays_in_its_form(memory: Memory, tmp_path: Path) -> None:
    place = tmp_path / "WORKFLOW-STATUS.yaml"
    place.write_text(YAML_OF_OTHERS)
    found = memory.read()
    assert (found.source, found.warnings) == (Source.WORKFLOW_STATUS, ())
    assert found.initiative is not None
    assert (found.initiative.title, found.initiative.status, found.initiative.milestone) == (
        "Checkout",
        Status.IN_PROGRESS,
        "M2",
    )
    assert [(each.id, each.status.value) for each in found.initiative.milestones] == [
        ("M1", "completed"),
        ("M2", "in_progress"),
    ]

    memory.milestone_completed("M2")
    memory.change_status(Status.BLOCKED, reason="waits for the bank")
    text = re.sub(" +#", " #", place.read_text())
    theirs = re.sub(" +#", " #", YAML_OF_OTHERS)
    for was, now in (
        ("in-progress #", "blocked #"),
        ("M2: in_progress", "M2: completed"),
        ("current_milestone: M2", "current_milestone: ''"),
        ("2026-03-01T11:00:00Z", "'2026-03-01T12:00:00.000Z'"),
    ):
        theirs = theirs.replace(was, now)
    added = text.splitlines()
    for line in theirs.splitlines():
        assert line in added, line
        added.remove(line)
    assert [line.partition(":")[0] for line in added] == [
        *("initiative", "type", "phase", "completedPhase", "context", "reason", "outcome", "counter"),
    ]
    kept = [line for line in text.splitlines() if line in theirs.splitlines()]
    assert kept == theirs.splitlines(), "the order is another one"
    assert not list(tmp_path.glob("*.broken-*"))
    again = Memory(tmp_path).read()
    assert again.initiative is not None
    assert again.initiative.status is Status.BLOCKED


@pytest.mark.req("M-04")
def test_a_status_file_that_is_about_something_else_is_left_to_its_owner(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "WORKFLOW-STATUS.yaml").write_text("name: shop\nstatus: idle\n")
    assert memory.read().initiative is None
    assert memory.read().warnings == ()


IN_ITS_FOLDER = "documentation/milestones/_active/checkout/WORKFLOW-STATUS.yaml"


def put_status(directory: Path, path: str, text: str) -> Path:
    place = directory / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


@pytest.mark.req("M-03", "M-04")
def test_the_status_file_in_the_folder_of_an_initiative_is_read_followed_and_kept_in_its_form(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    written(tmp_path)
    text = YAML_OF_OTHERS.replace("2026-03-01T11:00:00Z", "2026-03-01T11:30:00Z").replace("M2\n", "M3\n")
    place = put_status(tmp_path, IN_ITS_FOLDER, text)
    clock.pass_(hours=1)
    resumed = memory.resume()
    assert resumed.initiative is not None
    assert (resumed.source, resumed.initiative.milestone) == (Source.WORKFLOW_STATUS, "M3")
    assert [each.code for each in resumed.warnings] == ["initiative_stale"]
    assert document(tmp_path)["currentMilestone"] == "M3"
    memory.change_status(Status.BLOCKED)
    kept = place.read_text()
    assert "# Kept by the team. Do not sort." in kept
    assert re.search(r"^status: blocked", kept, re.MULTILINE)
    assert not (tmp_path / "WORKFLOW-STATUS.yaml").exists(), "a second copy was made"
    assert IN_ITS_FOLDER in resumed.brought_up


@pytest.mark.req("M-03", "M-04")
def test_without_a_state_file_the_newest_running_folder_is_followed(memory: Memory, tmp_path: Path) -> None:
    folder = "documentation/milestones/_active"
    for name, status, hour in (("search", "in_progress", 10), ("cart", "blocked", 11), ("login", "completed", 12)):
        lines = f"name: {name}\nstatus: {status}\ncurrentMilestone: M1\nlastUpdated: 2026-03-01T{hour}:00:00Z\n"
        put_status(tmp_path, f"{folder}/{name}/WORKFLOW-STATUS.yaml", lines)
    found = memory.read()
    assert found.initiative is not None
    assert (found.source, found.initiative.title, found.initiative.status) == (
        Source.WORKFLOW_STATUS,
        "cart",
        Status.BLOCKED,
    )
    assert memory.change_status(Status.IN_PROGRESS).saved
    assert "status: in_progress" in (tmp_path / folder / "cart/WORKFLOW-STATUS.yaml").read_text()


@pytest.mark.req("M-04")
def test_the_status_file_of_another_initiative_is_never_changed(memory: Memory, tmp_path: Path) -> None:
    memory.start("Search", "APEX")
    place = put_status(tmp_path, IN_ITS_FOLDER, YAML_OF_OTHERS.replace("T11:", "T13:"))
    damaged = put_status(tmp_path, "documentation/milestones/_active/x/WORKFLOW-STATUS.yaml", "a: [\n")
    before = place.read_bytes()
    resumed = memory.resume()
    memory.change_status(Status.IN_PROGRESS)
    assert resumed.initiative is not None
    assert resumed.initiative.title == "Search"
    assert "memory_damaged" in codes(resumed.warnings)
    assert (place.read_bytes(), damaged.read_text()) == (before, "a: [\n")
    assert [each.name for each in damaged.parent.iterdir()] == ["WORKFLOW-STATUS.yaml"]
