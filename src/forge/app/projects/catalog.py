"""Projects: made and found, and what is done to one as a whole, whichever face is used."""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from forge.agents.models import registry
from forge.app.access.identity import LOCAL, Who, audit, record_new
from forge.app.admin.agent_programs import programs
from forge.app.admin.plugins import plugins_of
from forge.app.process.workshop import Workshop
from forge.app.projects.board_cards import mirrored
from forge.app.projects.change import change_project
from forge.app.projects.chosen_agents import ChosenAgents
from forge.app.projects.lookup import workspace_of
from forge.app.projects.named_run import topic_of
from forge.app.projects.view import PLAN, lines_of
from forge.builtin_rules import needs_a_model
from forge.errors import InvalidInput
from forge.events import BOARD, ProjectChanged
from forge.git import Repository
from forge.json_value import Json
from forge.pipeline.delivery_run import PLAN as PLAN_TYPE
from forge.pipeline.desk import TEST_RUNS
from forge.pipeline.draft import Draft
from forge.pipeline.errors import TypeUnknown
from forge.pipeline.project_change import card_of, commit_change, note_cards
from forge.projects import priming_message
from forge.projects.chat import ChatMessage
from forge.projects.info import Acknowledgement
from forge.projects.project import Project
from forge.projects.said_before import said_before
from forge.projects.status import Phase
from forge.tools.suites.outcome import Outcome

__all__ = ["Project", "workspace_of"]


async def create(
    shop: Workshop,
    name: str | None,
    *,
    who: Who = LOCAL,
    agent: str | None = None,
    repository: Path | None = None,
    after: Project | None = None,
    deliverable_type: str | None = None,
) -> Project:
    """A new project. `repository` is where code is to be built; `after` is a finished plan that it follows.

    `deliverable_type` stays, unless a correction of the person names another one.
    """
    if agent:
        known_agent(shop, agent)
    if deliverable_type:
        _known_type(shop, deliverable_type)
    wanted = deliverable_type or ("code" if after is not None else PLAN_TYPE)
    if wanted != PLAN_TYPE and ChosenAgents(shop, agent or "").by_rules("spec-building"):
        raise needs_a_model(f"A project of type {wanted}")
    code = await asyncio.to_thread(_code_repository, repository) if repository is not None else None
    plan = _finished_plan(after) if after is not None else None
    now = datetime.fromtimestamp(time.time(), UTC)

    def prepare(read: Any) -> Any:
        draft = Draft(read, now.timestamp())
        draft.info = replace(
            draft.info,
            agent=agent or "",
            branch=f"forge/build-{draft.info.id}",
            repository=None if code is None else str(code),
            phase_entered=draft.now,
        )
        draft.say(priming_message.PRIMING_MESSAGE)
        if deliverable_type:
            draft.set_type(deliverable_type)
        if plan is not None and after is not None:
            draft.info = replace(draft.info, chained_from=after.id)
            draft.write("resources/plan.md", plan)
        return draft.files()

    workspace = workspace_of(shop.settings)
    # The directories of others stay unknown: a user's is never in the way of another's.
    project = await asyncio.to_thread(
        lambda: workspace.create(name, agent=agent or "", now=now, prepare=prepare, apart=not who.is_local)
    )
    await asyncio.to_thread(record_new, shop, who, "project", project.id)
    await asyncio.to_thread(audit, shop, who, "project.create", f"project:{project.id}", name or "")
    await asyncio.to_thread(tell, shop, project, "created")
    await show_card(shop, project)
    return project


def tell(shop: Workshop, project: Project, what: str, *, name: str | None = None) -> None:
    """Whoever listens: something happened to it as a whole."""
    changed = ProjectChanged(project.id, what, shop.redactor.text(project.name if name is None else name))
    # To one that has just been made nobody can listen yet.
    for topic in (BOARD,) if what == "created" else (topic_of(project), BOARD):
        shop.events.publish(topic, changed)


def _code_repository(path: Path) -> Path:
    """Where it really is. Nothing in it is touched before something is built."""
    repo = Repository.open(path)
    if repo.is_empty:
        raise InvalidInput(f"{path} has no commit yet.", hint="Commit something there first, or leave --repo out.")
    return repo.common_dir


def _known_type(shop: Workshop, name: str) -> None:
    known = plugins_of(shop.settings).deliverables
    if name not in known:
        raise TypeUnknown.among(name, known)


def known_agent(shop: Workshop, name: str) -> None:
    """Refuse a name that nobody answers to, before anything is begun with it."""
    if name not in programs(shop.settings):
        registry.resolve(name, shop.settings)


def choose_agent(shop: Workshop, project: Project, name: str) -> None:
    """Let another model or program answer from here on."""
    known_agent(shop, name)

    def choose(draft: Draft) -> None:
        draft.info = replace(draft.info, agent=name)
        draft.status = replace(draft.status, agent=name)

    change_project(shop, project, choose, f"agent: {name}")


def _finished_plan(after: Project) -> str:
    status = after.status()
    text = after.records.read(PLAN)
    if status.phase is not Phase.DONE or text is None:
        found = "It is an outline: let a model write it" if after.info().outline else f"It is in phase {status.phase}"
        raise InvalidInput(f"{after.name} is not a finished plan.", hint=f"{found}; finish it first.")
    return text


async def show_card(shop: Workshop, project: Project) -> None:
    """On every board that is set. What fails there is noted in the log and stops nothing."""
    card = await asyncio.to_thread(card_of, project, plugins_of(shop.settings).deliverables)
    shown = await mirrored(shop.settings, (await asyncio.to_thread(project.info)).cards, card)
    for warning in shown["warnings"]:
        project.log.write("warn", "error", card.phase, warning)
    if shown["cards"]:
        await asyncio.to_thread(change_project, shop, project, partial(note_cards, cards=shown["cards"]), "board: card")


def accept_tests(project: Project) -> Json:
    """A person says that the tests of the last run are enough, where there are fewer than before."""
    runs = lines_of(project, TEST_RUNS)
    if not runs:
        raise InvalidInput("No run of the tests is recorded.", hint="Tests run when code is built.")
    if runs[-1].get("outcome") == Outcome.CANNOT_RUN:
        raise InvalidInput("The tests of the last run cannot run.", hint="Supply what is missing, then resume.")
    given = Acknowledgement(total=runs[-1]["total"], runs=len(runs))

    def acknowledge(draft: Draft) -> None:
        draft.info = replace(draft.info, acknowledged_tests=given)

    commit_change(project, acknowledge, f"tests: {given.total} are enough", now=time.time())
    return asdict(given)


def whole_chat(project: Project) -> tuple[ChatMessage, ...]:
    """With what was said before the confirmations, which clear the chat."""
    return (*said_before(project), *project.chat())


def artifacts(project: Project) -> tuple[Path, ...]:
    """What a person may want to take away: the documents, and what the explorer wrote."""
    places = [*sorted((project.directory / "docs").glob("*.md")), *sorted((project.directory / "artifacts").glob("*"))]
    return tuple(place for place in places if place.is_file())


def save_artifact(project: Project, name: str, to: Path) -> Path:
    """Copy one of them out. Nothing is overwritten."""
    found = next((place for place in artifacts(project) if place.name == name), None)
    if found is None:
        raise InvalidInput(f"There is no artifact {name}.", hint="`forge project artifacts` lists them.")
    target = to / name if to.is_dir() else to
    if target.exists():
        raise InvalidInput(f"{target} exists already.", hint="Give another name; nothing was written.")
    shutil.copyfile(found, target)
    return target
