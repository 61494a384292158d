"""`forge mcp` for a team server: what the client asks over standard input goes to the server's `/mcp`, with the key."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from forge import __version__
from forge.errors import InvalidInput
from forge.mcp.server import INSTRUCTIONS, Context, agent_name

_log = logging.getLogger(__name__)
_SECONDS = 30.0
_LONG = 900.0
"""Seconds that a call may take: commands run for up to ten minutes."""


class TeamServerUnset(InvalidInput):
    """Only one of FORGE_URL and FORGE_KEY is set, or the address is none."""

    code = "team_server_unset"


class TeamServer:
    """Connects with the first request, under the name that the client gives itself.

    The protocol library wants a connection to be closed by the task that opened it: `_hold` is that task.
    """

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key
        self._over = asyncio.Event()
        self._connected: asyncio.Future[Client] | None = None
        self._holding: asyncio.Task[None] | None = None

    async def client(self, context: Context) -> Client:
        if self._connected is None or (self._connected.done() and self._connected.exception() is not None):
            self._connected = asyncio.get_running_loop().create_future()
            self._holding = asyncio.create_task(self._hold(agent_name(context), self._connected))
        return await asyncio.shield(self._connected)

    async def close(self) -> None:
        self._over.set()
        if self._holding is not None:
            await self._holding

    async def _hold(self, name: str, connected: asyncio.Future[Client]) -> None:
        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            async with (
                httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(_SECONDS, read=_LONG)) as http,
                Client(
                    streamable_http_client(self._url, http_client=http),
                    client_info=types.Implementation(name=name, version=__version__),
                ) as client,
            ):
                connected.set_result(client)
                await self._over.wait()
        except Exception as e:  # noqa: BLE001 - whatever the transport raises, the client is told what to check
            told = f"The server at {self._url.partition('?')[0]} does not answer us: check FORGE_URL and FORGE_KEY."
            _log.warning("%s (%s)", told, type(e).__name__)
            if not connected.done():
                connected.set_exception(MCPError(types.INTERNAL_ERROR, told))


def address(environ: Mapping[str, str], chosen: Sequence[str], *, project: str | None, build: str | None) -> str | None:
    """Of the team server, or None where none is set."""
    url, key = environ.get("FORGE_URL", "").rstrip("/"), environ.get("FORGE_KEY", "")
    if not url and not key:
        return None
    if not key or not url.startswith(("http://", "https://")):
        raise TeamServerUnset(
            "A team server needs FORGE_URL and FORGE_KEY.",
            hint="Set both, such as FORGE_URL=https://forge.example.org.",
        )
    query = {"toolsets": ",".join(chosen), "project": project, "build": build}
    given = urlencode({name: value for name, value in query.items() if value})
    return f"{url.removesuffix('/mcp')}/mcp{'?' if given else ''}{given}"


def forwarding(team: TeamServer) -> Server[Any]:
    """A server that answers with what the team's server answers."""

    async def list_tools(context: Context, params: object) -> types.ListToolsResult:
        del params
        return await (await team.client(context)).list_tools()

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        client = await team.client(context)
        return await client.call_tool(params.name, params.arguments, progress_callback=context.session.report_progress)

    async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
        del params
        return await (await team.client(context)).list_resources()

    async def list_templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
        del params
        return await (await team.client(context)).list_resource_templates()

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await (await team.client(context)).read_resource(str(params.uri))

    async def list_prompts(context: Context, params: object) -> types.ListPromptsResult:
        del params
        return await (await team.client(context)).list_prompts()

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await (await team.client(context)).get_prompt(params.name, params.arguments)

    return Server(
        "forge",
        version=__version__,
        title="Forge",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
