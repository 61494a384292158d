"""A project that this process works on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.projects import (
    audited_actions,
    catalog,
    contracts,
    exploration,
    exploration_turn,
    generation,
    notes,
    project_access,
    project_tests,
    questionnaire,
    runs,
)
from forge.app.projects.catalog import Project, workspace_of
from forge.app.projects.contract_views import ContractText, Kind
from forge.app.projects.generation import Generation, Started, Wanted
from forge.app.projects.messages import About, Given
from forge.app.projects.named_run import ActionEffect
from forge.app.projects.notes import Note
from forge.app.projects.project_tests import ProjectTests
from forge.app.projects.project_view import ProjectView
from forge.app.projects.questionnaire import Questionnaire
from forge.app.projects.view import view
from forge.cli.terminal.open_project import WantedProject
from forge.events import Event
from forge.json_value import Json


async def created(shop: Workshop, wanted: WantedProject) -> LocalProject:
    plan = await asyncio.to_thread(workspace_of(shop.settings).open, wanted.after) if wanted.after else None
    made = await catalog.create(
        shop,
        wanted.name,
        agent=wanted.agent,
        repository=wanted.repository,
        after=plan,
        deliverable_type=wanted.deliverable_type,
    )
    return LocalProject(shop, made)


class LocalProject:
    def __init__(self, shop: Workshop, project: Project) -> None:
        self._shop = shop
        self.project = project

    async def view(self) -> ProjectView:
        return await asyncio.to_thread(view, self._shop, self.project)

    async def say(
        self,
        text: str,
        *,
        given: Sequence[Given] = (),
        about: About | None = None,
        action_id: str | None = None,
    ) -> ActionEffect:
        return await audited_actions.say_found(
            self._shop, LOCAL, self.project, text, given=given, about=about, action_id=action_id
        )

    async def perform(
        self,
        action: str,
        *,
        text: str = "",
        given: Sequence[Given] = (),
        confirmed: bool = False,
        agent: str | None = None,
        action_id: str | None = None,
    ) -> ActionEffect:
        if agent is not None:
            await asyncio.to_thread(catalog.choose_agent, self._shop, self.project, agent)
        return await audited_actions.perform_found(
            self._shop, LOCAL, self.project, action, text=text, given=given, confirmed=confirmed, action_id=action_id
        )

    def follow(self, done: ActionEffect) -> AsyncIterator[Event]:
        return runs.follow(self._shop, self.project, done)

    async def continue_run(self, run: str | None) -> None:
        """Continue what a server that ended has left: the run that the project names, and the one that is followed."""
        await runs.go_on(self._shop, self.project)
        if run is not None:
            self._shop.engine.take_over(run)

    async def explore(
        self, text: str | None, *, about: About | None = None, action_id: str | None = None
    ) -> ActionEffect:
        return await exploration_turn.explore_found(
            self._shop, LOCAL, self.project, text, about=about, action_id=action_id
        )

    async def hand_over_exploration(self) -> None:
        await asyncio.to_thread(exploration.hand_over_found, self._shop, LOCAL, self.project)

    async def add_resource(self, source: Path) -> str:
        return await asyncio.to_thread(project_access.add_resource_found, self._shop, LOCAL, self.project, source)

    async def stop(self) -> ProjectView:
        await audited_actions.stop_found(self._shop, LOCAL, self.project)
        return await self.view()

    async def change(self, *, name: str | None = None, archived: bool | None = None) -> ProjectView:
        await asyncio.to_thread(
            project_access.change_found, self._shop, LOCAL, self.project, name=name, archived=archived
        )
        return await self.view()

    async def delete(self, *, confirm: str) -> Path:
        return await asyncio.to_thread(project_access.delete_found, self._shop, LOCAL, self.project, confirm=confirm)

    async def tests(self) -> ProjectTests:
        return await asyncio.to_thread(project_tests.tests_found, self.project, self.project.info().repository)

    async def set_test_command(self, command: str) -> ProjectTests:
        await asyncio.to_thread(project_tests.set_command_found, self._shop, LOCAL, self.project, command)
        return await self.tests()

    async def accept_tests(self) -> Json:
        return await asyncio.to_thread(project_access.accept_tests_found, self._shop, LOCAL, self.project)

    async def note(self) -> Note:
        return await asyncio.to_thread(notes.show_note, self._shop, LOCAL, self.project.id)

    async def save_note(self, text: str, *, seen: int) -> Note:
        return await asyncio.to_thread(notes.save_note, self._shop, LOCAL, self.project.id, text, seen=seen)

    async def generate(self, wanted: Wanted) -> Started:
        return await generation.generate_found(self._shop, LOCAL, self.project, wanted)

    async def generation_under_way(self) -> Started | None:
        return await generation.continue_found(self._shop, self.project)

    def follow_generation(self, started: Started) -> AsyncIterator[Event]:
        return self.follow(ActionEffect(changed=True, run=started.run, after=started.after))

    async def generation(self) -> Generation:
        return await asyncio.to_thread(generation.newest_found, self._shop, self.project)

    async def stop_generation(self) -> Generation:
        return await generation.stop_found(self._shop, LOCAL, self.project)

    async def answer_questions(self, answers: Mapping[str, str]) -> Questionnaire:
        return await asyncio.to_thread(questionnaire.answer_found, self._shop, LOCAL, self.project, answers)

    async def edit_contract(self, kind: Kind, text: str, *, etag: str) -> ContractText:
        return await asyncio.to_thread(contracts.edit_found, self._shop, LOCAL, self.project, kind, text, expected=etag)

    async def restore_contract(self, kind: Kind, version: int) -> ContractText:
        return await asyncio.to_thread(contracts.restore_found, self._shop, LOCAL, self.project, kind, version)
