"""`forge mcp` for a team server: each message of the client goes to the server's `/mcp`, with the key, and each answer
back, as they are. So both generations, tasks, questions and subscriptions work as they do there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import anyio
import httpx2
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from forge.errors import InvalidInput

_log = logging.getLogger(__name__)
_SECONDS = 30.0
_LONG = 900.0
"""Seconds that a call may take: commands run for up to ten minutes."""
_AGAIN = 2.0
"""Seconds until the stream of notifications is asked for again."""
_VERSION = "io.modelcontextprotocol/protocolVersion"
_SESSION = "mcp-session-id"
_TASKS = ("tasks/get", "tasks/update", "tasks/cancel")
Reading = ReadStream[SessionMessage | Exception]
Writing = WriteStream[SessionMessage]


class TeamServerUnset(InvalidInput):
    """Only one of FORGE_URL and FORGE_KEY is set, or the address is none."""

    code = "team_server_unset"


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


class Bridge:
    """One client and one server. The older generation has a session there; the newer one says all in each request."""

    def __init__(self, url: str, key: str, writing: Writing) -> None:
        self._url = url
        self._writing = writing
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"},
            timeout=httpx2.Timeout(_SECONDS, read=_LONG),
        )
        self._greeting: types.JSONRPCRequest | None = None
        self._known: dict[str, str] = {}
        """Headers of the session."""
        self._under_way: dict[types.RequestId, anyio.CancelScope] = {}

    async def run(self, reading: Reading) -> None:
        """Until the client closes its end."""
        async with self._http, anyio.create_task_group() as group:
            async for item in reading:
                if isinstance(item, SessionMessage):
                    await self._take(group, item.message)
            group.cancel_scope.cancel()

    async def _take(self, group: TaskGroup, message: types.JSONRPCMessage) -> None:
        """What must be in order is waited for; requests go side by side."""
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = self._under_way.get((message.params or {}).get("requestId", ""))
            if cancelled is not None and not self._known:
                cancelled.cancel()  # the newer generation cancels by hanging up
                return
        if not isinstance(message, types.JSONRPCRequest):
            await self._send(message)
        elif message.method == "initialize":
            self._greeting = message
            self._known = {}
            await self._send(message)
            if _SESSION in self._known:
                group.start_soon(self._hear)
        else:
            group.start_soon(self._ask, message)

    async def _ask(self, request: types.JSONRPCRequest) -> None:
        with anyio.CancelScope() as scope:
            self._under_way[request.id] = scope
            try:
                await self._send(request)
            finally:
                del self._under_way[request.id]

    async def _send(self, message: types.JSONRPCMessage, *, again: bool = True) -> None:
        body = message.model_dump(mode="json", by_alias=True, exclude_none=True)
        id_ = message.id if isinstance(message, types.JSONRPCRequest) else None
        try:
            async with self._http.stream("POST", self._url, json=body, headers=self._headers(body)) as answer:
                if answer.status_code == 404 and self._known and again:
                    await self._greet_again()
                    return await self._send(message, again=False)
                if body.get("method") == "initialize" and _SESSION in answer.headers:
                    self._known = {_SESSION: answer.headers[_SESSION]}
                heard = 0
                async for each in _messages(answer):
                    self._learn(each)
                    heard += 1
                    await self._writing.send(SessionMessage(each))
                if id_ is not None and not heard:
                    await self._refuse(id_, _words(answer))
        except httpx2.HTTPError as e:
            _log.warning("The server does not answer. (%s)", type(e).__name__)
            if id_ is not None:
                await self._refuse(id_, "it does not answer")
        return None

    def _headers(self, body: Mapping[str, Any]) -> dict[str, str]:
        params = body.get("params") or {}
        version = (params.get("_meta") or {}).get(_VERSION)
        if version is None:
            return dict(self._known)
        method = str(body.get("method", ""))
        name = params.get("taskId" if method in _TASKS else NAME_BEARING_METHODS.get(method, ""))
        named = {MCP_NAME_HEADER: encode_header_value(str(name))} if name is not None else {}
        return {MCP_PROTOCOL_VERSION_HEADER: str(version), MCP_METHOD_HEADER: method, **named}

    def _learn(self, message: types.JSONRPCMessage) -> None:
        """The version that both agreed on goes into every later request."""
        if self._greeting is None or not isinstance(message, types.JSONRPCResponse):
            return
        if message.id == self._greeting.id and "protocolVersion" in message.result:
            self._known[MCP_PROTOCOL_VERSION_HEADER] = str(message.result["protocolVersion"])

    async def _greet_again(self) -> None:
        """The server forgot the session: it restarted, or nobody asked for long. The client need not know."""
        assert self._greeting is not None
        self._known = {}
        body = self._greeting.model_dump(mode="json", by_alias=True, exclude_none=True)
        async with self._http.stream("POST", self._url, json=body) as answer:
            known = {_SESSION: answer.headers[_SESSION]} if _SESSION in answer.headers else {}
            async for each in _messages(answer):
                self._learn(each)
        self._known |= known
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._http.post(self._url, json=ready, headers=self._known)

    async def _hear(self) -> None:
        """Notifications that belong to no request, such as of a resource that changed."""
        while self._known:
            try:
                async with self._http.stream("GET", self._url, headers=self._known) as answer:
                    async for each in _messages(answer):
                        await self._writing.send(SessionMessage(each))
            except httpx2.HTTPError as e:
                _log.debug("The stream of notifications ended: %s", type(e).__name__)
            await anyio.sleep(_AGAIN)

    async def _refuse(self, id_: types.RequestId, why: str) -> None:
        told = f"The server at {self._url.partition('?')[0]} refuses this: {why}. Check FORGE_URL and FORGE_KEY."
        error = types.ErrorData(code=types.INTERNAL_ERROR, message=told)
        await self._writing.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=id_, error=error)))


async def _messages(answer: httpx2.Response) -> AsyncIterator[types.JSONRPCMessage]:
    """As they come: of a stream of events, or the one in the body."""
    if "event-stream" in answer.headers.get("content-type", ""):
        async for line in answer.aiter_lines():
            if line.startswith("data:") and (found := _message(line.removeprefix("data:"))):
                yield found
        return
    if found := _message((await answer.aread()).decode("utf-8", "replace")):
        yield found


def _message(text: str) -> types.JSONRPCMessage | None:
    try:
        return types.jsonrpc_message_adapter.validate_json(text)
    except ValidationError:
        return None


def _words(answer: httpx2.Response) -> str:
    """What the server says besides the protocol, such as to a key that is revoked."""
    if not answer.is_closed and not answer.is_stream_consumed:
        return f"status {answer.status_code}"
    try:
        found = json.loads(answer.text)
        return str(found.get("detail") or f"status {answer.status_code}").rstrip(".")
    except (ValueError, AttributeError):
        return f"status {answer.status_code}"
