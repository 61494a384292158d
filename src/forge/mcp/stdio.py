"""`forge mcp` over standard input and output, for the person at this machine. Nothing but the protocol is printed."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from forge.mcp import server, toolsets
from forge.mcp.call import Call, Defaults
from forge.mcp.jobs import Jobs
from forge.mcp.server import Context
from forge.mcp.tool import Tool

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop
    from forge.app.repositories.catalog import Repository
    from forge.settings import Settings

_RUNS = 4
"""Commands that run side by side."""


def serve(
    directory: Path,
    environ: Mapping[str, str],
    *,
    chosen: Sequence[str] = (),
    project: str | None = None,
    build: str | None = None,
) -> None:
    """Until the client closes its end."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    names = [name for each in chosen for name in each.split(",")]
    tools = toolsets.chosen(names)
    if environ.get("FORGE_URL") or environ.get("FORGE_KEY"):
        from forge.mcp import bridge  # noqa: PLC0415 - most have no team server

        address = bridge.address(environ, names, project=project, build=build)
        if address is not None:
            asyncio.run(_bridge(address, environ["FORGE_KEY"]))
            return
    asyncio.run(_serve(directory, environ, tools, Defaults(project=project, build=build)))


async def _serve(directory: Path, environ: Mapping[str, str], tools: Sequence[Tool], defaults: Defaults) -> None:
    async with AsyncExitStack() as stack:
        made = local_server(LocalHost(directory, environ, stack), tools, defaults)
        async with stdio_server() as (reading, writing):
            await made.run(reading, writing, made.create_initialization_options())


async def _bridge(address: str, key: str) -> None:
    from forge.mcp.bridge import Bridge  # noqa: PLC0415

    async with stdio_server() as (reading, writing):
        await Bridge(address, key, writing).run(reading)


def local_server(host: LocalHost, tools: Sequence[Tool], defaults: Defaults) -> Server[Any]:
    return server.create(_Front(host, tools, defaults))


class LocalHost:
    """Opens things when the first call needs them: a client waits for the first answer."""

    def __init__(self, directory: Path, environ: Mapping[str, str], stack: AsyncExitStack) -> None:
        self._directory = directory
        self._environ = environ
        self._stack = stack
        self._opening = asyncio.Lock()
        self._shop: Workshop | None = None
        self.runs = anyio.CapacityLimiter(_RUNS)

    @property
    def directory(self) -> Path | None:
        return self._directory

    async def shop(self) -> Workshop:
        from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine

        async with self._opening:
            if self._shop is None:
                settings = await asyncio.to_thread(self._settings)
                self._shop = await self._stack.enter_async_context(open_workshop(settings, self._environ))
        return self._shop

    async def settings(self) -> Settings:
        return await asyncio.to_thread(self._settings)

    async def project(self) -> str | None:
        from forge.app.projects.resolve import project_here  # noqa: PLC0415 - loads projects

        found = await asyncio.to_thread(lambda: project_here(self._settings(), self._directory))
        return found.id if found is not None else None

    async def repository(self, who: Who, name: str | None, scope: str) -> tuple[str, Repository]:
        return await asyncio.to_thread(self._here, name) or await self._known(who, name, scope)

    def _here(self, name: str | None) -> tuple[str, Repository] | None:
        """The repository of the directory needs no database."""
        from forge.app.repositories.catalog import id_of, limited, opened  # noqa: PLC0415
        from forge.errors import ForgeError  # noqa: PLC0415

        try:
            repo = opened(_top(self._directory))
        except ForgeError:
            if name is None:
                raise
            return None
        own = (repo.work_tree or repo.git_dir).name
        return (own, limited(repo, self._settings())) if name in (None, own, id_of(repo)) else None

    async def moved(self, repo: Repository) -> None:
        """A server on the same data finds the operation in the log of the repository."""

    async def note(self, who: Who, tool: str, subject: str) -> None:
        """Nobody else works here; the operation log tells of commits."""

    async def _known(self, who: Who, name: str | None, scope: str) -> tuple[str, Repository]:
        from forge.mcp.repositories import named  # noqa: PLC0415

        shop = await self.shop()
        return await asyncio.to_thread(named, shop, who, name, scope)

    def _settings(self) -> Settings:
        from forge.app.admin.settings import load_settings  # noqa: PLC0415

        return load_settings(None, self._environ)


def _top(directory: Path) -> Path:
    """The directory that holds `.git`, at or above `directory`."""
    return next((each for each in (directory, *directory.parents) if (each / ".git").exists()), directory)


class _Front:
    def __init__(self, host: LocalHost, tools: Sequence[Tool], defaults: Defaults) -> None:
        self._host = host
        self._tools = tools
        self._defaults = defaults
        self.jobs = Jobs()
        self.seal = secrets.token_bytes(32)

    def tools(self, context: Context) -> Sequence[Tool]:
        del context
        return self._tools

    def call(self, context: Context) -> Call:
        from forge.app.access.identity import LOCAL  # noqa: PLC0415

        return Call(
            self._host, LOCAL, server.agent_name(context), self._defaults, context.session.report_progress, self.jobs
        )
