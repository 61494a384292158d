"""Mirrors projects to a Backlog.md board by its `backlog task` command."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forge.boards.errors import BoardFailed, BoardInvalid
from forge.boards.program import Finished, command_words, refused, run
from forge.plugins.roles import Board, Card

NAME = "backlog"
LABEL = "forge"

STATUSES: Mapping[str, str] = {
    "brain_dump": "To Do",
    "distilling": "To Do",
    "human_review": "In Progress",
    "spec_building": "In Progress",
    "building": "In Progress",
    "polishing": "In Progress",
    "halted": "In Progress",
    "done": "Done",
}
"""Statuses of a new Backlog.md board. Other names of one's own are set under `statuses`."""

_CREATED = re.compile(r"^Task (?P<id>[A-Za-z]+-[0-9.]+) - ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BacklogBoard:
    words: tuple[str, ...]
    directory: str
    statuses: Mapping[str, str]

    @property
    def name(self) -> str:
        return NAME

    async def create(self, card: Card) -> str:
        """The task that carries the project's id as a label is its card; so a crash cannot leave two."""
        there = _tasks(await self._run("list", "--json", f"--labels={card.project_id}"))
        if there:
            return there[0]
        labels = f"--labels={LABEL},{card.project_id},{_phase_label(card.phase)}"
        about = f"--description=Forge project {card.project_id} in {card.directory}"
        made = await self._run("create", f"--status={self._status(card)}", labels, about, "--plain", "--", card.name)
        found = _CREATED.search(made.output)
        if found is None:
            raise BoardFailed("backlog made a task and did not say which", hint="this version of it may be too new")
        return found["id"]

    async def update(self, reference: str, card: Card) -> None:
        others = ",".join(_phase_label(phase) for phase in STATUSES if phase != card.phase)
        labels = [f"--remove-label={others}", f"--add-label={_phase_label(card.phase)}"]
        named = [f"--title={card.name}", f"--status={self._status(card)}"]
        await self._run("edit", *named, *labels, "--plain", "--", reference)

    def _status(self, card: Card) -> str:
        return self.statuses.get(card.phase, "In Progress")

    async def _run(self, verb: str, *options: str) -> Finished:
        finished = await run(NAME, [*self.words, "task", verb, *options], cwd=self.directory)
        if finished.code != 0:
            raise refused(NAME, finished.errors or finished.output, hint=f"try `backlog task list` in {self.directory}")
        return finished


def backlog_md(settings: Mapping[str, Any]) -> Board:
    """`directory`, where `backlog init` was run; `command` (default `backlog`); `statuses` by phase."""
    directory = str(settings.get("directory") or "")
    if not directory:
        raise BoardInvalid(
            "boards.backlog is enabled but has no directory", hint="name the directory where `backlog init` was run"
        )
    own = settings.get("statuses") or {}
    if not isinstance(own, Mapping) or not set(own) <= set(STATUSES):
        raise BoardInvalid("boards.backlog.statuses names a phase that there is not", hint=", ".join(STATUSES))
    statuses = dict(STATUSES) | {phase: str(status) for phase, status in own.items()}
    return BacklogBoard(command_words(NAME, settings, "backlog"), directory, statuses)


def _phase_label(phase: str) -> str:
    return f"phase-{phase.replace('_', '-')}"


def _tasks(finished: Finished) -> list[str]:
    try:
        tasks = json.loads(finished.output)["tasks"]
        return [str(task["id"]) for task in tasks]
    except (ValueError, TypeError, KeyError) as error:
        raise refused(NAME, "its list of tasks cannot be read") from error
