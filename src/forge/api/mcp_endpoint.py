"""Where the server answers MCP: loads that face with its first request, and tells clients how to come in."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from forge.api.access.request_headers import MCP, METADATA
from forge.app.process.workshop import Workshop


class McpEndpoint:
    """The protocol library takes half a second to load: a server that nobody asks for it does without."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self._loading = asyncio.Lock()
        self._loaded: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._loaded is None:
            async with self._loading:
                if self._loaded is None:
                    # The faces do not know each other; this one only starts the other.
                    face = await asyncio.to_thread(import_module, "forge.mcp.http")
                    self._loaded = face.endpoint(self._shop)
        await self._loaded(scope, receive, send)


def routes(shop: Workshop) -> list[Route]:
    return [Route(MCP, McpEndpoint(shop)), *(Route(path, _metadata) for path in METADATA)]


async def _metadata(request: Request) -> Response:
    """RFC 9728. No authorization server: a person makes keys."""
    gate: Any = request.app.state.gate
    return JSONResponse(gate.resource_metadata(request.scope), headers={"Cache-Control": "max-age=3600"})
