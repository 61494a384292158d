"""Backlog.md, against a stand-in with the options and answers of the real program."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge.boards.backlog_md import STATUSES, backlog_md
from forge.boards.errors import BoardFailed, BoardInvalid
from forge.boards.overview import PHASES
from forge.plugins.roles import Card

pytestmark = pytest.mark.req("P-20")

FAKE = [sys.executable, str(Path(__file__).parent / "fake_backlog.py")]
CARD = Card("20261115-ab12", '-- "Wedding"; $(plan)', "brain_dump", "claude", "/projects/wedding")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "backlog").mkdir()
    return tmp_path


def settings(place: Path, **more: Any) -> dict[str, Any]:
    return {"enabled": True, "command": FAKE, "directory": str(place)} | more


def tasks(place: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((place / "backlog/board.json").read_text())
    return found


def test_a_project_becomes_a_task_that_follows_it_to_done(place: Path) -> None:
    board = backlog_md(settings(place))
    assert asyncio.run(board.create(CARD)) == "TASK-1"
    (task,) = tasks(place)
    assert (task["title"], task["status"]) == (CARD.name, "To Do")
    assert task["labels"] == ["forge", "20261115-ab12", "phase-brain-dump"]
    asyncio.run(board.update("TASK-1", replace(CARD, name="Wedding", phase="halted")))
    assert (tasks(place)[0]["title"], tasks(place)[0]["status"]) == ("Wedding", "In Progress")
    asyncio.run(board.update("TASK-1", replace(CARD, name="Wedding", phase="done")))
    assert tasks(place)[0]["labels"] == ["forge", "20261115-ab12", "phase-done"]
    assert tasks(place)[0]["status"] == "Done"


def test_every_phase_has_a_status() -> None:
    assert set(STATUSES) == set(PHASES)


def test_labels_that_a_person_gave_stay(place: Path) -> None:
    board = backlog_md(settings(place))
    asyncio.run(board.create(CARD))
    mine = tasks(place)
    mine[0]["labels"].append("mine")
    (place / "backlog/board.json").write_text(json.dumps(mine))
    asyncio.run(board.update("TASK-1", replace(CARD, phase="building")))
    assert "mine" in tasks(place)[0]["labels"]


def test_a_task_that_was_made_before_a_crash_is_found_again(place: Path) -> None:
    board = backlog_md(settings(place))
    assert [asyncio.run(board.create(CARD)) for _ in range(2)] == ["TASK-1", "TASK-1"]
    assert asyncio.run(board.create(replace(CARD, project_id="20261115-cd34"))) == "TASK-2"


def test_names_of_ones_own_for_statuses(place: Path) -> None:
    board = backlog_md(settings(place, statuses={"polishing": "Reviewing"}))
    asyncio.run(board.create(CARD))
    with pytest.raises(BoardFailed, match="Invalid status: Reviewing"):
        asyncio.run(board.update("TASK-1", replace(CARD, phase="polishing")))
    with pytest.raises(BoardInvalid, match="statuses"):
        backlog_md(settings(place, statuses={"nonsense": "Done"}))


def test_a_directory_is_needed_and_must_be_a_board(tmp_path: Path) -> None:
    with pytest.raises(BoardInvalid, match="no directory"):
        backlog_md({"command": FAKE})
    with pytest.raises(BoardFailed, match=r"No Backlog\.md project found"):
        asyncio.run(backlog_md(settings(tmp_path)).create(CARD))
    with pytest.raises(BoardFailed, match="cannot be started"):
        asyncio.run(backlog_md(settings(tmp_path / "gone")).create(CARD))


def test_an_answer_that_says_nothing_is_a_failure(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_MODE", "silent")
    with pytest.raises(BoardFailed, match="cannot be read"):
        asyncio.run(backlog_md(settings(place)).create(CARD))
