"""A project that the server works on; this process continues a run whose server ends."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Self

from forge.app.access.identity import LOCAL
from forge.app.process.known_secrets import redactor
from forge.app.process.server_lock import Serving
from forge.app.process.settings_difference import differing, notes, refuse_without_key
from forge.app.projects.catalog import Project, workspace_of
from forge.app.projects.contract_views import ContractText, Kind, text_from_json
from forge.app.projects.generation import (
    UNFINISHED,
    Generation,
    Started,
    Wanted,
    generation_from_json,
    started_from_json,
)
from forge.app.projects.messages import About, Given, resource_content
from forge.app.projects.named_run import ActionEffect
from forge.app.projects.notes import Note
from forge.app.projects.project_tests import ProjectTests, tests_from_json
from forge.app.projects.project_view import ProjectView, view_from_json
from forge.app.projects.questionnaire import Questionnaire, questions_from_json
from forge.cli.server_client import ServerClient, ServerGone, server_ended
from forge.cli.server_follow import followed
from forge.cli.terminal.open_project import WantedProject
from forge.errors import ForgeError
from forge.events import Event
from forge.json_value import Json
from forge.settings import Settings

if TYPE_CHECKING:
    from forge.cli.terminal.local_project import LocalProject

_WAIT = 2.0


class ServerProject:
    """One client for all that a command wants of the project."""

    project: Project

    def __init__(self, server: Serving, settings: Settings, tell: Callable[[str], None]) -> None:
        self._settings = settings
        self._tell = tell
        self.client = ServerClient(server, settings.data_dir)
        self._opened = AsyncExitStack()
        self._local: LocalProject | None = None
        self._compared: int | None = None
        self.is_at_work = False
        """Whether the server works on something that this command began."""

    async def __aenter__(self) -> Self:
        await self._opened.enter_async_context(self.client)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    @property
    def server(self) -> int | None:
        return None if self._local else self.client.server.pid

    async def create(self, wanted: WantedProject) -> None:
        server = self.client.server
        if wanted.agent is not None:
            refuse_without_key(server, await asyncio.to_thread(differing, server, self._settings), wanted.agent)
        plan = await asyncio.to_thread(workspace_of(self._settings).open, wanted.after) if wanted.after else None
        place = wanted.repository
        code = None if place is None else await self.client.post("/repositories", {"path": str(place)})
        body = {
            "name": wanted.name,
            "agent": wanted.agent,
            "repository": None if code is None else code["id"],
            "after": None if plan is None else plan.id,
            "deliverable_type": wanted.deliverable_type,
        }
        made = await self.client.post("/projects", body)
        self.project = await asyncio.to_thread(Project.at, Path(made["directory"]))

    async def view(self) -> ProjectView:
        if self._local is not None:
            return await self._local.view()
        return view_from_json(await self.client.get(self._at))

    async def say(self, text: str, *, given: Sequence[Given] = (), about: About | None = None) -> ActionEffect:
        key = uuid.uuid4().hex
        if self._local is None:
            answers = [asdict(each) for each in given]
            body = {"text": self._redacted(text), "answers": answers, "about": about, "explore": False}
            try:
                return await self._acted(await self.client.post(f"{self._at}/messages", body, key=key))
            except ServerGone:
                await self._continue_here()
        assert self._local is not None
        return await self._local.say(text, given=given, about=about, action_id=key)

    async def perform(
        self,
        action: str,
        *,
        text: str = "",
        given: Sequence[Given] = (),
        confirmed: bool = False,
        agent: str | None = None,
    ) -> ActionEffect:
        key = uuid.uuid4().hex
        if self._local is None:
            body = {
                "text": self._redacted(text),
                "confirmed": confirmed,
                "agent": agent,
                "delegated": any(each.delegated for each in given),
            }
            try:
                return await self._acted(await self.client.post(f"{self._at}/actions/{action}", body, key=key))
            except ServerGone:
                await self._continue_here()
        assert self._local is not None
        return await self._local.perform(
            action, text=text, given=given, confirmed=confirmed, agent=agent, action_id=key
        )

    async def explore(self, text: str | None, *, about: About | None = None) -> ActionEffect:
        key = uuid.uuid4().hex
        if self._local is None:
            body = {"text": None if text is None else self._redacted(text), "about": about}
            try:
                return await self._acted(await self.client.post(f"{self._at}/explore/turns", body, key=key))
            except ServerGone:
                await self._continue_here()
        assert self._local is not None
        return await self._local.explore(text, about=about, action_id=key)

    async def hand_over_exploration(self) -> None:
        if self._local is not None:
            await self._local.hand_over_exploration()
            return
        await self.client.post(f"{self._at}/explore/brain-dump")

    async def _acted(self, answer: Json) -> ActionEffect:
        done = ActionEffect(answer["changed"], answer["run"], answer["after"], answer["message"])
        self.is_at_work = False
        if done.run is not None:
            await self._works()
        return done

    async def _works(self) -> None:
        """The server works on it, with its own settings."""
        self.is_at_work = True
        server = self.client.server
        if self._compared != server.pid:
            self._compared = server.pid
            for line in notes(server, await asyncio.to_thread(differing, server, self._settings)):
                self._tell(line)

    async def follow(self, done: ActionEffect) -> AsyncIterator[Event]:
        run, last = done.run, done.after
        if run is None:
            return
        try:
            if self._local is None:
                topic = self.project.subject.topic
                async for id_, event in followed(self.client, topic, last, lambda: self._is_over(run)):
                    last = id_ or last
                    yield event
                self.is_at_work = False
                return
        except ServerGone:
            await self._continue_here(run)
        assert self._local is not None
        async for event in self._local.follow(ActionEffect(done.changed, run, last)):
            yield event

    async def _is_over(self, run: str) -> bool:
        return bool((await self.client.get(f"{self._at}/runs/{run}", wait=_WAIT))["over"])

    async def _continue_here(self, run: str | None = None) -> None:
        """The server has ended: open what a run needs in this process."""
        from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
        from forge.cli.terminal.local_project import LocalProject  # noqa: PLC0415

        self._tell(server_ended(self.client.server))
        shop = await self._opened.enter_async_context(open_workshop(self._settings, os.environ))
        self._local = LocalProject(shop, self.project)
        self.is_at_work = False
        await self._local.continue_run(run)

    async def add_resource(self, source: Path) -> str:
        if self._local is not None:
            return await self._local.add_resource(source)
        content = await asyncio.to_thread(resource_content, self._settings, source)
        return str((await self.client.upload(f"{self._at}/resources", source.name, content))["name"])

    async def stop(self) -> ProjectView:
        return view_from_json(await self.client.post(f"{self._at}/stop"))

    async def change(self, *, name: str | None = None, archived: bool | None = None) -> ProjectView:
        return view_from_json(await self.client.patch(self._at, {"name": name, "archived": archived}))

    async def delete(self, *, confirm: str) -> Path:
        return Path((await self.client.delete(self._at, confirm=confirm))["kept"])

    async def tests(self) -> ProjectTests:
        return tests_from_json(await self.client.get(f"{self._at}/tests"))

    async def set_test_command(self, command: str) -> ProjectTests:
        body = {"command": self._redacted(command)}
        return tests_from_json(await self.client.put(f"{self._at}/tests", body))

    async def accept_tests(self) -> Json:
        return await self.client.post(f"{self._at}/tests/accept")

    async def note(self) -> Note:
        return Note(LOCAL.id, **await self.client.get(f"{self._at}/note"))

    async def save_note(self, text: str, *, seen: int) -> Note:
        return Note(LOCAL.id, **await self.client.put(f"{self._at}/note", {"text": text, "seen": seen}))

    async def generate(self, wanted: Wanted) -> Started:
        if self._local is not None:
            return await self._local.generate(wanted)
        server = self.client.server
        if wanted.agent is not None:
            refuse_without_key(server, await asyncio.to_thread(differing, server, self._settings), wanted.agent)
        started = started_from_json(await self.client.post(f"{self._at}/contracts/generation", asdict(wanted)))
        await self._works()
        return started

    async def generation_under_way(self) -> Started | None:
        newest = await self.client.get(f"{self._at}/contracts/generation")
        if not newest or newest["state"] not in UNFINISHED:
            return None
        known = await self.client.get(f"{self._at}/runs/{newest['run']}", wait=0)
        self.is_at_work = True
        kinds = tuple(Kind(each["contract_type"]) for each in newest["contracts"])
        return Started(newest["run"], kinds, newest["model"], self.project.subject.topic, known["after"])

    def follow_generation(self, started: Started) -> AsyncIterator[Event]:
        return self.follow(ActionEffect(changed=True, run=started.run, after=started.after))

    async def generation(self) -> Generation:
        if self._local is not None:
            return await self._local.generation()
        return generation_from_json(await self.client.get(f"{self._at}/contracts/generation"))

    async def stop_generation(self) -> Generation:
        if self._local is not None:
            return await self._local.stop_generation()
        stopped = await self.client.delete(f"{self._at}/contracts/generation")
        self.is_at_work = False
        return generation_from_json(stopped)

    async def answer_questions(self, answers: Mapping[str, str]) -> Questionnaire:
        body = {"answers": {id_: self._redacted(text) for id_, text in answers.items()}}
        return questions_from_json(await self.client.put(f"{self._at}/contracts/questions", body))

    async def edit_contract(self, kind: Kind, text: str, *, etag: str) -> ContractText:
        body = {"content": text, "etag": etag}
        return text_from_json(await self.client.put(f"{self._at}/contracts/{kind.value}", body))

    async def restore_contract(self, kind: Kind, version: int) -> ContractText:
        body = {"version": version}
        return text_from_json(await self.client.post(f"{self._at}/contracts/{kind.value}/restore", body))

    def _redacted(self, text: str) -> str:
        """The server knows its own secrets, not those of this command."""
        return redactor(self._settings, os.environ).text(text)

    @property
    def _at(self) -> str:
        return f"/projects/{self.project.id}"


async def has_project(client: ServerClient, project: Project) -> bool:
    """Whether the server has the one in this directory: a copy that somebody made has the same id."""
    try:
        seen = await client.get(f"/projects/{project.id}")
    except ForgeError as e:
        if e.code in ("project_missing", "server_gone"):
            return False
        raise
    return Path(seen["directory"]) == project.directory
