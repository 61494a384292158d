"""The tests of a branch, run by the server; this process continues a run whose server ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from forge.app.process.server_lock import Serving
from forge.app.repositories.catalog import id_of, subject_of
from forge.app.repositories.test_runs import TestRunView, Wanted, view_from_json
from forge.cli.server_client import ServerClient, ServerGone, server_ended
from forge.cli.server_follow import followed
from forge.errors import ForgeError
from forge.events import TestsProgressed
from forge.json_value import Json

if TYPE_CHECKING:
    from forge.app.repositories.catalog import Repository
    from forge.settings import Settings

_WAIT = 2.0


class ServerTests:
    def __init__(
        self, server: Serving, settings: Settings, repo: Repository, branch: str, tell: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._repo = repo
        self._branch = branch
        self._tell = tell
        self._client = ServerClient(server, settings.data_dir)
        self._at = f"/repositories/{id_of(repo)}/tests"

    async def run(self, wanted: Wanted, on_line: Callable[[str], None]) -> TestRunView:
        async with self._client:
            while True:
                begun = await self._begun(wanted)
                try:
                    seen = await self._followed(begun, on_line)
                except asyncio.CancelledError:
                    if not begun["running"]:
                        with suppress(ServerGone):
                            await self._client.post(f"{self._at}/cancel", None, branch=self._branch)
                    raise
                if not begun["running"]:
                    return seen
                # That was the run of somebody else, maybe of other tests; the same tests are not run twice.

    async def _begun(self, wanted: Wanted) -> Json:
        body = {"pattern": wanted.pattern, "again": wanted.fresh, "seconds": wanted.seconds}
        try:
            return await self._client.post(f"{self._at}/runs", body, branch=self._branch)
        except ForgeError as e:
            if e.code != "repository_missing":
                raise
        repo = self._repo
        await self._client.post("/repositories", {"path": str(repo.work_tree or repo.git_dir)})
        return await self._client.post(f"{self._at}/runs", body, branch=self._branch)

    async def _followed(self, begun: Json, on_line: Callable[[str], None]) -> TestRunView:
        run, topic = str(begun["run"]), subject_of(self._repo, self._branch).topic
        try:
            async for _, event in followed(self._client, topic, begun["after"], lambda: self._has_ended(run)):
                if isinstance(event, TestsProgressed):
                    on_line(event.text)
            return view_from_json((await self._state(run))["end"])
        except ServerGone:
            return await self._continued(run)

    async def _has_ended(self, run: str) -> bool:
        """However it ended: an error is raised afterwards."""
        try:
            return (await self._state(run))["end"] is not None
        except ServerGone:
            raise
        except ForgeError:
            return True

    async def _state(self, run: str) -> Json:
        return await self._client.get(f"{self._at}/runs/{run}", branch=self._branch, wait=_WAIT)

    async def _continued(self, run: str) -> TestRunView:
        from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
        from forge.app.repositories.test_workflow import result_of  # noqa: PLC0415

        self._tell(server_ended(self._client.server))
        async with open_workshop(self._settings, os.environ) as shop:
            shop.engine.take_over(run)
            return await result_of(shop, self._repo, self._branch, run)
