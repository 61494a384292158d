"""MCP over streamable HTTP, inside the server: both protocol generations at one address.

The gate has let the request in and knows whose key it came with. Here a key without the scope of a tool is refused
with status 403, before the protocol sees the call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from forge.app.access.identity import Who, audit, server_secret
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import Repository
from forge.mcp import server, toolsets
from forge.mcp.call import Call, Defaults
from forge.mcp.jobs import Jobs
from forge.mcp.repositories import named
from forge.mcp.server import Context
from forge.mcp.tool import Tool
from forge.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
BODY = 4 << 20
_RUNS = 8
"""Commands that run side by side; further calls wait, and other requests do not wait for them."""
_IDLE = 30 * 60.0
_SESSIONS = 2000
_TOOLS = {tool.name: tool for tools in toolsets.TOOLSETS.values() for tool in tools}


class Endpoint:
    """An ASGI application. What it starts, it starts with the first request, on the loop of that."""

    def __init__(self, made: Server[Any], *, identified: Callable[[Scope], Who]) -> None:
        self._manager = StreamableHTTPSessionManager(
            app=made, session_idle_timeout=_IDLE, max_sessions=_SESSIONS, max_request_body_size=BODY
        )
        self._identified = identified
        self._starting = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = self._identified(scope)
        body = await _body(receive) if scope["method"] == "POST" else b""
        needed = _missing_scope(who, body)
        if needed is not None:
            await _refuse(scope, send, needed)
            return
        await self._start()
        # Sessions of the older generation belong to the key that began them.
        token = AccessToken(token="", client_id=who.key or who.id, scopes=sorted(who.scopes), subject=who.id)
        scope["user"] = AuthenticatedUser(token)
        await self._manager.handle_request(scope, _replayed(body, receive), send)

    async def _start(self) -> None:
        async with self._starting:
            if self._running is None:
                started = asyncio.Event()
                self._running = asyncio.create_task(self._run(started))
                await started.wait()

    async def _run(self, started: asyncio.Event) -> None:
        """Sessions live in a task of their own, until the loop ends."""
        async with self._manager.run():
            started.set()
            await asyncio.Event().wait()


class SharedHost:
    """The server that all its users share."""

    directory: Path | None = None

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self.runs = anyio.CapacityLimiter(_RUNS)

    async def shop(self) -> Workshop:
        return self._shop

    async def settings(self) -> Settings:
        return self._shop.settings

    async def project(self) -> str | None:
        return None

    async def repository(self, who: Who, name: str | None, scope: str) -> tuple[str, Repository]:
        return await asyncio.to_thread(named, self._shop, who, name, scope)

    async def moved(self, repo: Repository) -> None:
        await asyncio.to_thread(self._shop.feed.publish, repo)

    async def note(self, who: Who, tool: str, subject: str) -> None:
        await asyncio.to_thread(audit, self._shop, who, f"mcp.{tool}", subject)


class _Front:
    def __init__(self, host: SharedHost, seal: bytes) -> None:
        self._host = host
        self.seal = seal
        self.jobs = Jobs()

    def tools(self, context: Context) -> Sequence[Tool]:
        return _chosen(context.request.query_params.get("toolsets", "") if context.request is not None else "")

    def call(self, context: Context) -> Call:
        assert context.request is not None
        query = context.request.query_params
        who = context.request.scope["state"]["who"]
        defaults = Defaults(query.get("repo") or who.repository, query.get("project"), query.get("build"))
        return Call(
            self._host,
            who,
            server.agent_name(context),
            defaults,
            context.session.report_progress,
            self.jobs,
            web=context.request.scope["state"]["base"],
        )


def endpoint(shop: Workshop) -> Endpoint:
    """The seal holds beyond a restart, and for every process that serves the same data."""
    seal = hashlib.sha256(b"mcp request state" + server_secret(shop.settings.data_dir)).digest()
    return Endpoint(server.create(_Front(SharedHost(shop), seal)), identified=_who)


def _who(scope: Scope) -> Who:
    who = scope["state"]["who"]
    assert isinstance(who, Who)
    return who


@lru_cache(maxsize=64)
def _chosen(names: str) -> tuple[Tool, ...]:
    return toolsets.chosen(names.split(","))


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _missing_scope(who: Who, body: bytes) -> str | None:
    """The scope that this request needs and the key has not. What cannot be read is the protocol's to refuse."""
    if "read" not in who.scopes:
        return "read"
    try:
        asked = json.loads(body) if body else None
        params = asked["params"] if isinstance(asked, dict) and asked.get("method") == "tools/call" else {}
        tool = _TOOLS.get(params["name"]) if isinstance(params, dict) and "name" in params else None
        arguments = params.get("arguments")
        needed = tool.needs(arguments if isinstance(arguments, dict) else {}) if tool is not None else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return needed if needed is not None and needed not in who.scopes else None


async def _refuse(scope: Scope, send: Send, needed: str) -> None:
    told = f"This needs a key with the scope {needed}. Ask the person for one: `forge key new --scope {needed}`."
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": told}}
    challenge = f'Bearer error="insufficient_scope", scope="{needed}"'
    metadata = scope.get("state", {}).get("resource_metadata")
    headers = [
        (b"content-type", b"application/json"),
        (b"www-authenticate", (challenge + (f', resource_metadata="{metadata}"' if metadata else "")).encode()),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(error).encode()})
