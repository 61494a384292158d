"""Cline's Kanban, against a stand-in with the options and answers of the real program."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import forge.boards.program
from forge.boards.cline import ClineBoard, cline
from forge.boards.errors import BoardFailed, BoardInvalid
from forge.plugins.roles import Card, CardRunner
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("P-20")

FAKE = [sys.executable, str(Path(__file__).parent / "fake_kanban.py")]
SETTINGS = {"enabled": True, "command": FAKE}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_STATE", str(tmp_path / "board.json"))
    return tmp_path / "board.json"


@pytest.fixture
def card(make_repo: MakeRepo, state: Path) -> Card:
    return Card("20261115-ab12", '-- "Wedding"; $(plan)', "brain_dump", "claude", str(make_repo({"a": "b"})))


def tasks(state: Path) -> list[tuple[Any, ...]]:
    return [(task["id"], task["title"], task["column"]) for task in json.loads(state.read_text())]


def test_a_project_becomes_a_card_that_follows_it_to_done(card: Card, state: Path) -> None:
    board = cline(SETTINGS)
    reference = asyncio.run(board.create(card))
    assert tasks(state) == [(reference, f"{card.name} [brain_dump]", "backlog")]
    asyncio.run(board.update(reference, replace(card, name="Wedding", phase="polishing")))
    assert tasks(state) == [(reference, "Wedding [polishing]", "backlog")]
    asyncio.run(board.update(reference, replace(card, name="Wedding", phase="done")))
    assert tasks(state) == [(reference, "Wedding [done]", "trash")]


def test_a_card_is_started_once_and_keeps_its_column(card: Card, state: Path) -> None:
    board = ClineBoard(tuple(FAKE))
    reference = asyncio.run(board.create(card))
    for _ in range(2):
        asyncio.run(board.start(reference, card))
        assert tasks(state) == [(reference, f"{card.name} [brain_dump]", "in_progress")]


def test_a_card_stays_in_the_backlog_where_starting_is_off(card: Card, state: Path) -> None:
    board = cline(SETTINGS | {"start": False})
    assert isinstance(board, CardRunner)
    reference = asyncio.run(board.create(card))
    asyncio.run(board.start(reference, card))
    assert tasks(state) == [(reference, f"{card.name} [brain_dump]", "backlog")]
    with pytest.raises(BoardInvalid, match=r"boards\.kanban\.start"):
        cline(SETTINGS | {"start": "no"})


def test_a_card_that_was_made_before_a_crash_is_found_again(card: Card, state: Path) -> None:
    board = cline(SETTINGS)
    assert asyncio.run(board.create(card)) == asyncio.run(board.create(replace(card, name="other")))
    other = replace(card, project_id="20261115-cd34")
    assert asyncio.run(board.create(other)) != asyncio.run(board.create(card))


def test_all_cards_can_go_to_one_board(card: Card, state: Path, make_repo: MakeRepo) -> None:
    place = str(make_repo({"a": "b"}, name="board"))
    asyncio.run(cline(SETTINGS | {"project_path": place}).create(card))
    assert json.loads(state.read_text())[0]["place"] == place


@pytest.mark.parametrize(
    ("mode", "said"), [("down", "fetch failed"), ("noise", "Update available"), ("hang", "no answer within 0.5 s")]
)
def test_a_board_that_fails_fails_softly(card: Card, monkeypatch: pytest.MonkeyPatch, mode: str, said: str) -> None:
    monkeypatch.setenv("FAKE_MODE", mode)
    if mode == "hang":
        monkeypatch.setattr(forge.boards.program.run, "__kwdefaults__", {"seconds": 0.5})
    started = time.perf_counter()
    with pytest.raises(BoardFailed, match=said) as caught:
        asyncio.run(cline(SETTINGS).create(card))
    assert (caught.value.code, bool(caught.value.hint)) == ("board_failed", True)
    assert time.perf_counter() - started < 10


def test_a_card_that_is_gone_and_a_place_without_git_are_told(card: Card, tmp_path: Path) -> None:
    with pytest.raises(BoardFailed, match='"nope" was not found'):
        asyncio.run(cline(SETTINGS).update("nope", card))
    with pytest.raises(BoardFailed, match="No git repository"):
        asyncio.run(cline(SETTINGS).create(replace(card, directory=str(tmp_path))))


def test_a_program_that_is_not_there_is_not_found(card: Card) -> None:
    missing = {"command": ["no-such-kanban"]}
    with pytest.raises(BoardFailed, match="cannot be started"):
        asyncio.run(cline(missing).create(card))


@pytest.mark.parametrize("command", [[1], {"a": 1}, ["kanban", ""]])
def test_a_command_that_is_no_list_of_words_is_refused(command: object) -> None:
    with pytest.raises(BoardInvalid, match=r"boards\.kanban\.command"):
        cline({"command": command})
