"""A command as a client of the server on its data directory: requests, errors as the server means them, events."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from forge.app.process.server_lock import ServerMissing, Serving, found_server, refuses_connections
from forge.errors import Conflict, Denied, ForgeError, InvalidInput, NotFound, Upstream
from forge.events import Event, from_json
from forge.json_value import Json

if TYPE_CHECKING:
    import httpx2

_FAMILIES: Mapping[int, type[ForgeError]] = {
    401: Denied,
    403: Denied,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    421: Denied,
    429: Denied,
}
_SECONDS = 60.0
_SECONDS_TO_ACT = 600.0
"""An action may fetch pages and ask a model before it is answered. A server that dies breaks the connection at once."""
_PATIENCE = 30.0
"""Seconds for a server that is there and does not answer."""
_AGAIN = 0.2


class ServerGone(Upstream):
    """The server ended, or answers no more, while a command was its client."""

    code = "server_gone"


class ServerClient:
    """Signed in as the person at this machine. A server that is started anew meanwhile is found again."""

    def __init__(self, server: Serving, data_dir: Path) -> None:
        self.server = server
        self._data_dir = data_dir
        self._http = _http(server)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def get(self, path: str, **params: str | float) -> Json:
        """Asked again of a server that came back."""
        while True:
            try:
                return await self._asked("GET", path, params)
            except ServerGone:
                await self._reach_again()

    async def put(self, path: str, body: Json, **params: str | float) -> Json:
        return await self._asked("PUT", path, params, body)

    async def patch(self, path: str, body: Json) -> Json:
        return await self._asked("PATCH", path, {}, body)

    async def delete(self, path: str, **params: str | float) -> Json:
        return await self._asked("DELETE", path, params)

    async def upload(self, path: str, name: str, content: bytes) -> Json:
        return await self._asked("POST", path, {}, files={"file": (name, content)})

    async def post(self, path: str, body: Json | None = None, *, key: str | None = None, **params: str | float) -> Json:
        """Sent once: whether a server that ended has done it is not known. `key` names an action that happens once."""
        return await self._asked("POST", path, params, body or {}, headers={"Idempotency-Key": key} if key else None)

    async def _asked(
        self,
        method: str,
        path: str,
        params: Mapping[str, str | float],
        body: Json | None = None,
        *,
        files: Mapping[str, tuple[str, bytes]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        import httpx2  # noqa: PLC0415 - only who has a server needs it

        try:
            answer = await self._http.request(
                method,
                f"/api{path}",
                params=params,
                json=body,
                files=files,
                headers=headers,
                timeout=_SECONDS if method == "GET" else _SECONDS_TO_ACT,
            )
            told = json.loads(answer.content or b"{}")
        except (httpx2.TransportError, ValueError) as e:
            raise _gone(self.server) from e
        if answer.status_code >= 400:
            raise error_of(told)
        return dict(told or {})

    async def follow(self, topic: str, after: int) -> AsyncIterator[tuple[int | None, Event]]:
        """Every event after that id, each once and in order, then as they come. Live ones have no id.

        Continues from the last id where the connection broke; raises `ServerGone` where there is no server any more.
        """
        from websockets.exceptions import WebSocketException  # noqa: PLC0415 - as above

        while True:
            with suppress(OSError, WebSocketException):
                async for id_, event in self._heard(topic, after):
                    after = id_ or after
                    yield id_, event
            await self._reach_again()

    async def _heard(self, topic: str, after: int) -> AsyncIterator[tuple[int | None, Event]]:
        from websockets.asyncio.client import connect  # noqa: PLC0415

        address = f"ws{self.server.url.removeprefix('http')}/api/stream"
        headers = {"Authorization": f"Bearer {self.server.secret}"}
        async with connect(address, additional_headers=headers, proxy=None, max_size=None) as socket:
            await socket.send(json.dumps({"subscribe": topic, "after": after}))
            async for text in socket:
                told = json.loads(text)
                if "problem" in told:
                    raise error_of(told["problem"])
                if "event" in told:
                    yield told.get("id"), from_json(told["event"])

    async def _reach_again(self) -> None:
        """Find the server once more, or the one that was started in its place."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            await asyncio.sleep(_AGAIN)
            try:
                found = await asyncio.to_thread(found_server, self._data_dir)
            except ServerMissing:
                if time.monotonic() > deadline or await asyncio.to_thread(refuses_connections, self.server):
                    raise _gone(self.server) from None
                continue
            if found.pid != self.server.pid:
                await self._http.aclose()
                self._http, self.server = _http(found), found
            return


def error_of(problem: Json) -> ForgeError:
    """The error that the server met: its family, code, message and hint."""
    status = int(problem.get("status", 500))
    family = _FAMILIES.get(status, Upstream if status >= 500 else InvalidInput)
    error = family(str(problem.get("detail", "")), hint=str(problem.get("hint", "")))
    error.code = str(problem.get("code", family.code))
    return error


def running_server(data_dir: Path) -> Serving | None:
    try:
        return found_server(data_dir)
    except ServerMissing:
        return None


def server_ended(server: Serving) -> str:
    return f"forge: the server (process {server.pid}) has ended; this command continues its work."


def server_continues(pid: int | None) -> str:
    return f"The server (process {pid}) continues the work."


def _http(server: Serving) -> httpx2.AsyncClient:
    import httpx2  # noqa: PLC0415

    return httpx2.AsyncClient(
        base_url=server.url,
        headers={"Authorization": f"Bearer {server.secret}", "Forge-Client": "cli"},
        timeout=_SECONDS,
        trust_env=False,
        # It speaks plain HTTP, and reading the certificates of the machine takes time.
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )


def _gone(server: Serving) -> ServerGone:
    return ServerGone(
        f"The server (process {server.pid}) ended before it answered.",
        hint="Look at what it did, such as with `forge session show`, then try again.",
    )
