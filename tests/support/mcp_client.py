"""An MCP client for tests: speaks to `forge mcp` or to a server's `/mcp`, and gives the text of each answer."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from forge.mcp.call import Defaults
from forge.mcp.stdio import LocalHost, local_server
from forge.mcp.toolsets import chosen

NAMED = types.Implementation(name="pytest", version="1")


@dataclass
class Agent:
    """A connected client."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must succeed."""
        failed, text = await self.tried(tool, **arguments)
        assert not failed, text
        return text

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must fail."""
        failed, text = await self.tried(tool, **arguments)
        assert failed, text
        return text

    async def tried(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, types.CallToolResult)
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return bool(result.is_error), content.text


def draft_in(text: str) -> str:
    found = re.search(r"draft~[0-9a-f.]+", text)
    assert found, text
    return found[0]


def command(repo: Path, *words: str) -> StdioServerParameters:
    forge = str(Path(sys.executable).parent / "forge")
    return StdioServerParameters(command=forge, args=["-C", str(repo), "mcp", *words], env=None)


@asynccontextmanager
async def at_machine(
    repo: Path, *words: str, env: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Agent]:
    parameters = command(repo, *words)
    parameters.env = env
    async with Client(stdio_client(parameters), client_info=NAMED, **options) as client:
        yield Agent(client)


@asynccontextmanager
async def at_server(url: str, key: str | None, query: str = "", **options: Any) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
        transport = streamable_http_client(f"{url}/mcp{query}", http_client=http)
        async with Client(transport, client_info=NAMED, **options) as client:
            yield Agent(client)


@asynccontextmanager
async def in_process(repo: Path, *names: str, project: str | None = None, **options: Any) -> AsyncIterator[Agent]:
    """The same server as `forge mcp`, without a process of its own."""
    async with AsyncExitStack() as stack:
        host = LocalHost(repo, os.environ, stack)
        made = local_server(host, chosen(names), Defaults(project=project))
        async with Client(made, client_info=NAMED, **options) as client:
            yield Agent(client)
