"""Cards on a person's own board: started when the code of a project is built, only shown otherwise."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.catalog import create
from forge.app.projects.messages import say
from forge.boards.backlog_md import backlog_md
from forge.boards.vibe_kanban import vibe_kanban
from forge.pipeline.actions import Action
from forge.pipeline.answerer import Task
from forge.plugins.roles import CardRunner
from forge.projects.project import Project
from tests.conftest import MakeRepo
from tests.support.project_runs import CODE_ANSWER, CODE_INTENT
from tests.support.scripted_projects import CLEAR, Office, Script, by_stand_in, new, pressed, script

__all__ = ["script"]

pytestmark = pytest.mark.req("P-20")

FAKE = Path(__file__).parents[1] / "boards" / "fake_kanban.py"
REVIEW = {"critical": 0, "medium": 0, "minor": 0, "tests": {"total": 3, "passed": 3, "failed": 0}, "issues": []}


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_STATE", str(tmp_path / "board.json"))
    return tmp_path / "board.json"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    command = json.dumps([sys.executable, str(FAKE)])
    return Office.at(tmp_path / "office", f"boards: {{kanban: {{enabled: true, command: {command}}}}}\n")


def columns(board: Path) -> list[str]:
    return [task["column"] for task in json.loads(board.read_text())]


async def build_code(shop: Workshop, script: Script, code: Path) -> tuple[Project, Any]:
    script.answers["brain-dump-intake"] = lambda _: CODE_INTENT
    script.answers["spec-building"] = lambda _: json.dumps(CODE_ANSWER)
    project = await create(shop, "Tool", agent="builtin", repository=code)
    await say(shop, project, CLEAR)
    for action in (Action.DISTILL, Action.CONFIRM):
        await pressed(shop, project, action)
    return project, await pressed(shop, project, Action.CONFIRM)


def test_the_card_of_a_code_project_runs_while_its_code_is_built(
    office: Office, script: Script, make_repo: MakeRepo, board: Path
) -> None:
    seen: list[list[str]] = []

    def reviewed(_: Task) -> str:
        seen.append(columns(board))
        return json.dumps(REVIEW)

    script.answers["code-review"] = reviewed

    async def use(shop: Workshop) -> None:
        _, done = await build_code(shop, script, make_repo({"README.md": "code\n"}))
        assert (done.phase, seen, columns(board)) == ("done", [["in_progress"]], ["trash"])

    office.do(use)


def test_a_card_that_cannot_be_started_is_a_warning(
    office: Office, script: Script, make_repo: MakeRepo, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "no agent")
    script.answers["code-review"] = lambda _: json.dumps(REVIEW)

    async def use(shop: Workshop) -> None:
        project, done = await build_code(shop, script, make_repo({"README.md": "code\n"}))
        assert (done.phase, done.halt_reason) == ("done", None)
        log = (project.directory / "forge.log").read_text()
        assert log.count("board kanban: kanban refused: Task command failed") == 1
        assert "No agent is installed." in log

    office.do(use)


def test_the_card_of_a_plan_is_never_started(office: Office, script: Script, board: Path) -> None:
    seen: list[list[str]] = []

    def built(task: Task) -> str:
        seen.append(columns(board))
        return by_stand_in(task)

    script.answers["plan-build"] = built

    async def use(shop: Workshop) -> None:
        project = await new(shop, dump=CLEAR)
        for action in (Action.DISTILL, Action.CONFIRM, Action.CONFIRM):
            view = await pressed(shop, project, action)
        assert (view.phase, seen[0]) == ("done", ["backlog"])

    office.do(use)


def test_boards_without_a_way_to_run_cards_are_left_alone() -> None:
    assert not isinstance(backlog_md({"directory": "/nowhere"}), CardRunner)
    assert not isinstance(vibe_kanban({}), CardRunner)
