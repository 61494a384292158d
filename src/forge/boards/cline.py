"""Mirrors projects to Cline's Kanban by its `kanban task` command, which needs the board's own server to run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forge.boards.errors import BoardFailed, BoardInvalid
from forge.boards.program import command_words, refused, run
from forge.plugins.roles import Board, Card

NAME = "kanban"
_NOT_ADDED = "is not added to Kanban yet"


@dataclass(frozen=True, slots=True)
class ClineBoard:
    """Cards stay in the backlog column until code is built for them, with the phase in their title.

    `kanban task start` moves a card to the next column and starts an agent of that board, whose prompt tells it to
    change nothing: Forge does the work.
    """

    words: tuple[str, ...]
    project_path: str | None = None
    """The git repository whose board it is; None for the project's own."""
    starts: bool = True

    @property
    def name(self) -> str:
        return NAME

    async def create(self, card: Card) -> str:
        place = self._place(card)
        for task in await self._tasks(place):
            if str(task.get("prompt", "")).startswith(_mark(card)):
                return str(task["id"])  # made before a crash
        answer = await self._ask("create", place, f"--title={_title(card)}", f"--prompt={_prompt(card)}")
        return _id(answer)

    async def update(self, reference: str, card: Card) -> None:
        place = self._place(card)
        task = f"--task-id={reference}"
        await self._ask("update", place, task, f"--title={_title(card)}", f"--prompt={_prompt(card)}")
        if card.phase == "done":
            await self._ask("done", place, task)

    async def start(self, reference: str, card: Card) -> None:
        if not self.starts:
            return
        place = self._place(card)
        if any(task.get("id") == reference and task.get("column") == "backlog" for task in await self._tasks(place)):
            await self._ask("start", place, f"--task-id={reference}")

    def _place(self, card: Card) -> str:
        return self.project_path or card.directory

    async def _tasks(self, place: str) -> list[dict[str, Any]]:
        try:
            return (await self._ask("list", place)).get("tasks") or []
        except BoardFailed as error:
            # Only `create` adds a repository; until then the program refuses to list it, and has no other sign for it.
            if _NOT_ADDED in error.message:
                return []
            raise

    async def _ask(self, verb: str, place: str, *options: str) -> dict[str, Any]:
        """The program answers with one JSON object, even where it fails."""
        finished = await run(NAME, [*self.words, "task", verb, *options, f"--project-path={place}"], cwd=None)
        try:
            answer = json.loads(finished.output)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise refused(NAME, finished.errors or finished.output)
        if finished.code != 0 or answer.get("ok") is not True:
            raise refused(NAME, str(answer.get("error", "")), hint="start the board with `kanban`")
        return answer


def cline(settings: Mapping[str, Any]) -> Board:
    """`command` (default `kanban`); `project_path`, the repository with the board that all cards go to; `start`,
    whether the board runs the card of a code project (default true).
    """
    starts = settings.get("start", True)
    if not isinstance(starts, bool):
        raise BoardInvalid("boards.kanban.start must be true or false", hint="`start: false` only shows cards")
    return ClineBoard(command_words(NAME, settings, "kanban"), str(settings.get("project_path") or "") or None, starts)


def _title(card: Card) -> str:
    return f"{card.name} [{card.phase}]"


def _mark(card: Card) -> str:
    return f"Forge project {card.project_id}"


def _prompt(card: Card) -> str:
    # An agent of the board reads this when the card is started.
    return f"{_mark(card)} ({card.phase}). Forge works on it by itself: change nothing, and stop here."


def _id(answer: Mapping[str, Any]) -> str:
    task = answer.get("task")
    found = task.get("id") if isinstance(task, dict) else None
    if not isinstance(found, str) or not found:
        raise BoardFailed("kanban made a task and did not say which", hint="this version of it may be too new")
    return found
