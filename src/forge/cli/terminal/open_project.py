"""Who carries out what a command wants of a project: the server, where one runs on the same data, else this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forge.cli.terminal.session import Session

if TYPE_CHECKING:
    from forge.app.process.server_lock import Serving
    from forge.app.projects.catalog import Project
    from forge.app.projects.contract_views import ContractText, Kind
    from forge.app.projects.generation import Generation, Started, Wanted
    from forge.app.projects.messages import About, Given
    from forge.app.projects.named_run import ActionEffect
    from forge.app.projects.notes import Note
    from forge.app.projects.project_tests import ProjectTests
    from forge.app.projects.project_view import ProjectView
    from forge.app.projects.questionnaire import Questionnaire
    from forge.events import Event
    from forge.json_value import Json
    from forge.settings import Settings


@dataclass(frozen=True, slots=True)
class WantedProject:
    """A project that is to be made."""

    name: str | None
    agent: str | None = None
    repository: Path | None = None
    after: str | None = None
    """The finished plan that it follows."""
    deliverable_type: str | None = None


class OpenProject(Protocol):
    """One project, for one command. It can be followed and acted on like `app.projects.autopilot.Pilot`."""

    @property
    def project(self) -> Project:
        """Its directory, to read from."""

    async def view(self) -> ProjectView: ...

    async def say(self, text: str, *, given: Sequence[Given] = (), about: About | None = None) -> ActionEffect: ...

    async def perform(
        self,
        action: str,
        *,
        text: str = "",
        given: Sequence[Given] = (),
        confirmed: bool = False,
        agent: str | None = None,
    ) -> ActionEffect:
        """`agent` answers from here on; only `resume` takes one."""

    def follow(self, done: ActionEffect) -> AsyncIterator[Event]:
        """Events of the run that an action started, until it has ended or waits for a person."""

    async def explore(self, text: str | None, *, about: About | None = None) -> ActionEffect:
        """Say something to the explorer; the result can be followed like that of an action."""

    async def hand_over_exploration(self) -> None:
        """Make the exploration the brain dump."""

    async def add_resource(self, source: Path) -> str: ...

    async def stop(self) -> ProjectView: ...

    async def change(self, *, name: str | None = None, archived: bool | None = None) -> ProjectView: ...

    async def delete(self, *, confirm: str) -> Path:
        """Gives the directory that it was moved to."""

    async def tests(self) -> ProjectTests: ...

    async def set_test_command(self, command: str) -> ProjectTests: ...

    async def accept_tests(self) -> Json: ...

    async def note(self) -> Note: ...

    async def save_note(self, text: str, *, seen: int) -> Note: ...

    async def generate(self, wanted: Wanted) -> Started:
        """Let an agent write contracts; `follow_generation` tells how far it is."""

    async def generation_under_way(self) -> Started | None: ...

    def follow_generation(self, started: Started) -> AsyncIterator[Event]: ...

    async def generation(self) -> Generation:
        """The newest run that writes contracts."""

    async def stop_generation(self) -> Generation: ...

    async def answer_questions(self, answers: Mapping[str, str]) -> Questionnaire: ...

    async def edit_contract(self, kind: Kind, text: str, *, etag: str) -> ContractText: ...

    async def restore_contract(self, kind: Kind, version: int) -> ContractText: ...


@asynccontextmanager
async def opened_project(session: Session, settings: Settings, project: Project) -> AsyncIterator[OpenProject]:
    """With `--direct`, and for a project that the server does not have, this process works."""
    server = await _server(session, settings)
    if server is not None:
        from forge.cli.terminal.server_project import ServerProject, has_project  # noqa: PLC0415

        async with ServerProject(server, settings, session.output.note) as opened:
            if await has_project(opened.client, project):
                opened.project = project
                async with _continued(session, opened):
                    yield opened
                return
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
    from forge.cli.terminal.local_project import LocalProject  # noqa: PLC0415

    async with open_workshop(settings, os.environ) as shop:
        yield LocalProject(shop, project)


@asynccontextmanager
async def created_project(session: Session, settings: Settings, wanted: WantedProject) -> AsyncIterator[OpenProject]:
    """Made by the process that will work on it."""
    server = await _server(session, settings)
    if server is not None:
        from forge.cli.terminal.server_project import ServerProject  # noqa: PLC0415

        async with ServerProject(server, settings, session.output.note) as opened:
            await opened.create(wanted)
            async with _continued(session, opened):
                yield opened
        return
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
    from forge.cli.terminal.local_project import created  # noqa: PLC0415

    async with open_workshop(settings, os.environ) as shop:
        yield await created(shop, wanted)


async def _server(session: Session, settings: Settings) -> Serving | None:
    """The server that works on projects of the same workspace, unless the person wants this process to."""
    from forge.app.process.settings_difference import has_same  # noqa: PLC0415
    from forge.cli.server_client import running_server  # noqa: PLC0415

    found = None if session.direct else await asyncio.to_thread(running_server, settings.data_dir)
    return found if found is not None and has_same(found, settings, "workspace") else None


class _AtWork(Protocol):
    @property
    def server(self) -> int | None: ...

    is_at_work: bool


@asynccontextmanager
async def _continued(session: Session, opened: _AtWork) -> AsyncIterator[None]:
    """Whoever interrupts the command is told that the server continues."""
    from forge.cli.server_client import server_continues  # noqa: PLC0415

    try:
        yield
    except asyncio.CancelledError:
        if opened.is_at_work and opened.server is not None:
            session.output.note(server_continues(opened.server))
        raise
