"""Projects as one person may reach them: every use case checks who asks first, and notes who did it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from forge.app.access.identity import Who, audit, forget_owner, only_owner, require, visible
from forge.app.admin.models import refuse_paths
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.projects import board, catalog, holds, runs
from forge.app.projects import messages as project_messages
from forge.app.projects.audited_actions import perform_found, say_found, stop_found
from forge.app.projects.lookup import project_for, workspace_of
from forge.app.projects.named_run import ActionEffect, topic_of
from forge.app.projects.repository_rights import refuse_where_they_may_not_build, shown, without_what_is_theirs
from forge.app.projects.view import ProjectView, views
from forge.app.repositories.catalog import repository
from forge.app.values.pages import Page, checked, position
from forge.app.values.uploads import plain_name
from forge.boards.overview import BoardView
from forge.engine.errors import RunUnknown
from forge.errors import InvalidInput, NotFound
from forge.json_value import Json
from forge.pipeline.actions import Action
from forge.pipeline.resources import ResourceRefused
from forge.projects import names
from forge.projects.project import Project
from forge.projects.said_before import said_before
from forge.projects.workspace import exists
from forge.store.contract_reads import ContractReads
from forge.store.notes import Notes
from forge.store.papers import Papers
from forge.store.scratchpads import Scratchpads

__all__ = ["project_for"]

_RESOURCES, _DOCUMENTS = "resources", "docs"


class DocumentMissing(NotFound):
    code = "document_missing"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action or a message: the project as it is now, the work that follows, where its events begin."""

    project: ProjectView
    changed: bool
    run: str | None
    topic: str
    after: int
    message: str


@dataclass(frozen=True, slots=True)
class ProjectRun:
    """`over`: it has ended or waits for a person. `after` is the id of the last event of the project so far."""

    over: bool
    after: int


@dataclass(frozen=True, slots=True)
class StoredFile:
    name: str
    bytes_size: int
    path: Path


def list_projects(
    shop: Workshop, who: Who, *, archived: bool = False, after: str | None = None, limit: int = 100
) -> Page[ProjectView]:
    """By id, so that pages hold still while projects change."""
    require(who, "read")
    count = checked(limit)
    seen = visible(shop, who, "project")
    every = workspace_of(shop.settings).by_id(archived=archived)
    mine = [each for each in every if each.id > (after or "") and (seen is None or each.id in seen)]
    repositories = visible(shop, who, "repository")
    readable, _ = views(shop, mine[:count])
    items = tuple(without_what_is_theirs(each, repositories) for _, each in readable)
    return Page(items, mine[count - 1].id if len(mine) > count else None)


def show_project(shop: Workshop, who: Who, id_: str) -> ProjectView:
    project = project_for(shop, who, id_)
    project.records.take_in()
    return shown(shop, who, project)


@on_work_loop
async def create_project(
    shop: Workshop,
    who: Who,
    name: str | None,
    *,
    agent: str | None = None,
    repository_id: str | None = None,
    after: str | None = None,
    deliverable_type: str | None = None,
) -> ProjectView:
    """`repository_id` is where code is to be built; `after` the finished plan that it follows; `deliverable_type` holds
    unless the person's words say another one.
    """
    require(who, "write")
    refuse_paths(who, agent)
    place = await asyncio.to_thread(_place, shop, who, repository_id)
    plan = await asyncio.to_thread(project_for, shop, who, after) if after else None
    await asyncio.to_thread(_refuse_own_name, shop, who, name)
    made = await catalog.create(
        shop, name, who=who, agent=agent, repository=place, after=plan, deliverable_type=deliverable_type
    )
    return await asyncio.to_thread(shown, shop, who, made)


def _place(shop: Workshop, who: Who, repository_id: str | None) -> Path | None:
    return repository(shop, who, repository_id, "write").common_dir if repository_id else None


def _refuse_own_name(shop: Workshop, who: Who, name: str | None) -> None:
    """A name that they see in use is taken; of all others they learn nothing. At the machine, directories decide."""
    seen = visible(shop, who, "project")
    if seen is None or not (name or "").strip():
        return
    wanted = names.slug(name or "")
    for each in workspace_of(shop.settings).by_id(archived=True):
        if each.id in seen and each.directory.name in (wanted, f"{wanted}-{each.id}"):
            raise exists(wanted)


def change_project(shop: Workshop, who: Who, id_: str, *, name: str | None, archived: bool | None) -> ProjectView:
    project = project_for(shop, who, id_, "write")
    change_found(shop, who, project, name=name, archived=archived)
    return shown(shop, who, project)


def change_found(shop: Workshop, who: Who, project: Project, *, name: str | None, archived: bool | None) -> None:
    """The one in this directory, for whoever may do so."""
    workspace, directory = workspace_of(shop.settings), project.directory.name
    if name is not None:
        workspace.rename(directory, name, now=datetime.fromtimestamp(time.time(), UTC))
        catalog.tell(shop, project, "renamed")
    if archived is not None:
        (workspace.archive if archived else workspace.unarchive)(directory)
        catalog.tell(shop, project, "archived" if archived else "unarchived")
    audit(shop, who, "project.change", f"project:{project.id}", f"name={name} archived={archived}")


def delete_project(shop: Workshop, who: Who, id_: str, *, confirm: str) -> Path:
    """`confirm` repeats the name of its directory. Gives where it is kept."""
    project = project_for(shop, who, id_, "write")
    only_owner(shop, who, "project", id_)
    return delete_found(shop, who, project, confirm=confirm)


def delete_found(shop: Workshop, who: Who, project: Project, *, confirm: str) -> Path:
    """The one in this directory, for whoever may do so: a copy that somebody made of a project has the same id."""
    workspace = workspace_of(shop.settings)
    holds.let_go(project)
    kept = workspace.delete(project.directory.name, confirm=confirm)
    catalog.tell(shop, project, "deleted", name=project.directory.name)
    if all(each.id != project.id for each in workspace.by_id(archived=True)):
        forget_owner(shop, "project", project.id)
        Notes(shop.database).forget(project.id)
        Papers(shop.database).delete(project.id)
        Scratchpads(shop.database).forget(project.id)
        ContractReads(shop.database).forget(project.id)
    audit(shop, who, "project.delete", f"project:{project.id}", project.directory.name)
    return kept


@on_work_loop
async def perform(
    shop: Workshop,
    who: Who,
    id_: str,
    action: str,
    *,
    text: str,
    confirmed: bool,
    action_id: str | None,
    agent: str | None = None,
    delegated: bool = False,
) -> ActionResult:
    """`agent` is who answers from here on; only a project that is resumed can be given another one."""
    project = await asyncio.to_thread(_project_at_work, shop, who, id_, ends=action == Action.TERMINATE)
    if agent is not None:
        await asyncio.to_thread(_choose_agent, shop, who, project, action, agent)
    if delegated and action != Action.PROVIDE_INPUT:
        raise InvalidInput("Only `provide_input` can be delegated.", hint="Leave `delegated` out.")
    given = (project_messages.Given(1, delegated=True),) if delegated else ()
    done = await perform_found(
        shop, who, project, action, text=text, confirmed=confirmed, action_id=action_id, given=given
    )
    return await asyncio.to_thread(_result, shop, who, project, done)


@on_work_loop
async def project_run(shop: Workshop, who: Who, id_: str, run: str, *, wait: float) -> ProjectRun:
    """Whether a run of the project has ended or waits for a person, after waiting so long for it."""
    project = await asyncio.to_thread(project_for, shop, who, id_)
    if (await asyncio.to_thread(shop.engine.status, run)).subject != project.subject:
        raise RunUnknown(f"This project has no run {run}.", hint="`run` of an action names one.")
    over = await runs.is_over(shop, run, within=wait)
    return ProjectRun(over, await asyncio.to_thread(shop.events.last, topic_of(project)))


@on_work_loop
async def stop_work(shop: Workshop, who: Who, id_: str) -> ProjectView:
    """Stop what is being done; the project halts and can be resumed."""
    project = await asyncio.to_thread(_project_at_work, shop, who, id_, ends=True)
    await stop_found(shop, who, project)
    return await asyncio.to_thread(shown, shop, who, project)


def _choose_agent(shop: Workshop, who: Who, project: Project, action: str, agent: str) -> None:
    if action != Action.RESUME:
        raise InvalidInput("Only `resume` takes an agent.", hint="Leave `agent` out.")
    refuse_paths(who, agent)
    catalog.choose_agent(shop, project, agent)


@on_work_loop
async def say(
    shop: Workshop,
    who: Who,
    id_: str,
    text: str,
    *,
    given: Sequence[project_messages.Given] = (),
    about: project_messages.About | None = None,
    action_id: str | None,
    explores: bool = False,
) -> ActionResult:
    """With `explores`, a message of the brain dump is answered by the explorer."""
    project = await asyncio.to_thread(_project_at_work, shop, who, id_)
    done = await say_found(shop, who, project, text, given=given, about=about, action_id=action_id)
    if explores and done.changed and shop.settings.explore.answer_chat:
        from forge.app.projects.exploration import answer  # noqa: PLC0415 - it stands above

        done = replace(done, run=done.run or await answer(shop, project))
    return await asyncio.to_thread(_result, shop, who, project, done)


def _project_at_work(shop: Workshop, who: Who, id_: str, *, ends: bool = False) -> Project:
    """One that they may let work where it builds. Whoever may not can still end it."""
    project = project_for(shop, who, id_, "run")
    if not ends:
        refuse_where_they_may_not_build(shop, who, project)
    return project


def _result(shop: Workshop, who: Who, project: Project, done: ActionEffect) -> ActionResult:
    now, topic = shown(shop, who, project), topic_of(project)
    return ActionResult(now, done.changed, done.run, topic, done.after, done.message)


def accept_tests(shop: Workshop, who: Who, id_: str) -> Json:
    return accept_tests_found(shop, who, project_for(shop, who, id_, "run"))


def accept_tests_found(shop: Workshop, who: Who, project: Project) -> Json:
    given = catalog.accept_tests(project)
    audit(shop, who, "project.accept_tests", f"project:{project.id}", str(given["total"]))
    return given


def messages(shop: Workshop, who: Who, id_: str, *, after: str | None, limit: int) -> Page[Any]:
    """The chat, oldest first; `after` counts messages."""
    return _counted(project_for(shop, who, id_).chat(), after, limit)


def earlier_messages(shop: Workshop, who: Who, id_: str, *, after: str | None, limit: int) -> Page[Any]:
    """What was said before the chat was cleared, oldest first; `after` counts messages."""
    return _counted(said_before(project_for(shop, who, id_)), after, limit)


def log_lines(shop: Workshop, who: Who, id_: str, *, after: str | None, limit: int) -> Page[Json]:
    return _counted(tuple(project_for(shop, who, id_).log.lines()), after, limit)


def _counted(items: tuple[Any, ...], after: str | None, limit: int) -> Page[Any]:
    start = position(after)
    end = start + checked(limit)
    return Page(items[start:end], str(end) if end < len(items) else None)


def add_resource(shop: Workshop, who: Who, id_: str, name: str, content: IO[bytes]) -> StoredFile:
    """`name` is what the sender called it; what is before the last slash is not taken."""
    project = project_for(shop, who, id_, "write")
    stored = project_messages.take_resource(shop, project, plain_name(name, ResourceRefused), content)
    audit(shop, who, "project.add_resource", f"project:{id_}", stored)
    return _stored(project.directory / _RESOURCES / stored)


def add_resource_found(shop: Workshop, who: Who, project: Project, source: Path) -> str:
    """A copy of a file of this machine, for whoever may read it."""
    stored = project_messages.add_resource(shop, project, source)
    audit(shop, who, "project.add_resource", f"project:{project.id}", Path(stored).name)
    return stored


def resources(shop: Workshop, who: Who, id_: str) -> tuple[StoredFile, ...]:
    return _files(project_for(shop, who, id_).directory / _RESOURCES, "*")


def artifacts(shop: Workshop, who: Who, id_: str) -> tuple[StoredFile, ...]:
    return tuple(_stored(place) for place in catalog.artifacts(project_for(shop, who, id_)) if not place.is_symlink())


def artifact(shop: Workshop, who: Who, id_: str, name: str) -> StoredFile:
    return _named(artifacts(shop, who, id_), name)


def documents(shop: Workshop, who: Who, id_: str) -> tuple[StoredFile, ...]:
    return _files(project_for(shop, who, id_).directory / _DOCUMENTS, "*.md")


def document(shop: Workshop, who: Who, id_: str, name: str) -> StoredFile:
    return _named(documents(shop, who, id_), name)


def _files(folder: Path, pattern: str) -> tuple[StoredFile, ...]:
    """A link may lead anywhere, so it is not followed."""
    places = sorted(folder.glob(pattern))
    return tuple(
        _stored(each) for each in places if each.is_file() and not each.is_symlink() and not each.name.startswith(".")
    )


def _named(files: tuple[StoredFile, ...], name: str) -> StoredFile:
    found = next((each for each in files if each.name == name), None)
    if found is None:
        raise DocumentMissing("There is no document of this name.", hint="List them to see what there is.")
    return found


def _stored(place: Path) -> StoredFile:
    return StoredFile(place.name, place.stat().st_size, place)


def board_for(shop: Workshop, who: Who) -> BoardView:
    require(who, "read")
    return board.board_of(shop, visible(shop, who, "project"))
