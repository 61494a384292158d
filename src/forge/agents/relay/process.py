"""A process that asks providers for another one and outlives it: an answer is received even if nobody hears it.

It is run as a file and imports little, because the first question waits for it. It is told everything through a socket.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from forge.agents.relay.journal import Writing

if TYPE_CHECKING:
    import httpx2

READY = b"r"
HEAD, PIECE, END, FAILED = b"h", b"p", b"e", b"f"
_REQUEST, _BODY = b"q", b"b"
_FRAME = struct.Struct("!cI")
_LOOK_AGAIN = 0.05
_LONGEST = 3600.0
"""Seconds that an answer may take which nobody hears, however steadily it comes."""


def frame(kind: bytes, data: bytes = b"") -> bytes:
    return _FRAME.pack(kind, len(data)) + data


async def read_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    kind, length = _FRAME.unpack(await reader.readexactly(_FRAME.size))
    return kind, await reader.readexactly(length)


@dataclass(frozen=True, slots=True)
class Route:
    """How a provider is reached. `proxy` is its address, with a name and a password for it if it wants them."""

    trust_env: bool
    proxy: str | None = None
    proxy_auth: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as it passes between the two processes."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    timeout: dict[str, float | None]
    route: Route
    body: bytes

    def encoded(self) -> bytes:
        told = asdict(self)
        body = told.pop("body")
        return frame(_REQUEST, json.dumps(told).encode()) + frame(_BODY, body)

    @classmethod
    async def read(cls, reader: asyncio.StreamReader) -> Self:
        told: dict[str, Any] = json.loads((await read_frame(reader))[1])
        route = told.pop("route")
        auth = route.pop("proxy_auth")
        return cls(
            **told, route=Route(**route, proxy_auth=tuple(auth) if auth else None), body=(await read_frame(reader))[1]
        )


class _Relay:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._left = asyncio.Event()
        self._serving: set[asyncio.Task[None]] = set()
        self._transports: dict[Route, httpx2.AsyncHTTPTransport] = {}

    async def run(self) -> None:
        """Until the other process is gone and the last answer has been received."""
        self._control.setblocking(False)
        asyncio.get_running_loop().add_reader(self._control, self._take)
        with suppress(ConnectionError):
            self._control.send(READY)
        await self._left.wait()
        while self._serving:
            await asyncio.wait(self._serving)

    def _take(self) -> None:
        try:
            data, fds, _, _ = socket.recv_fds(self._control, 1, 2)
        except BlockingIOError:
            return
        except ConnectionError:
            data, fds = b"", []
        if not data:
            asyncio.get_running_loop().remove_reader(self._control)
            self._left.set()
            return
        page, conversation = fds
        task = asyncio.ensure_future(self._serve(Writing(page), socket.socket(fileno=conversation)))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, writing: Writing, conversation: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=conversation)
        try:
            asked = await Asked.read(reader)
            receiving = asyncio.ensure_future(self._receive(asked, writing, writer))
            listening = asyncio.ensure_future(_unwanted(reader, writing))
            await asyncio.wait({receiving, listening}, return_when=asyncio.FIRST_COMPLETED)
            for task in (receiving, listening):
                task.cancel()
            failed, _ = await asyncio.gather(receiving, listening, return_exceptions=True)
            if isinstance(failed, Exception):
                _tell(writer, FAILED, json.dumps([type(failed).__name__, str(failed)]).encode())
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # who asks died before it had said what
        finally:
            writing.close()
            writer.close()

    async def _receive(self, asked: Asked, writing: Writing, writer: asyncio.StreamWriter) -> None:
        import httpx2  # noqa: PLC0415 - not needed by whoever only starts this

        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in asked.headers]
        request = httpx2.Request(
            asked.method, asked.url, headers=headers, content=asked.body, extensions={"timeout": asked.timeout}
        )
        response = await self._transport(asked.route).handle_async_request(request)
        try:
            await _pass_on(response, writing, writer)
        finally:
            await response.aclose()

    def _transport(self, route: Route) -> httpx2.AsyncHTTPTransport:
        import httpx2  # noqa: PLC0415

        if route not in self._transports:
            proxy = httpx2.Proxy(route.proxy, auth=route.proxy_auth) if route.proxy else None
            self._transports[route] = httpx2.AsyncHTTPTransport(trust_env=route.trust_env, proxy=proxy)
        return self._transports[route]


async def _pass_on(response: httpx2.Response, writing: Writing, writer: asyncio.StreamWriter) -> None:
    """Each piece is in the journal before anybody sees it. A refusal is not kept: it costs nothing to hear it again."""
    if response.status_code == 200:
        writing.head(response.status_code, response.headers.raw)
    else:
        writing.close()
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
    version = response.extensions.get("http_version", b"HTTP/1.1").decode("ascii")
    _tell(writer, HEAD, json.dumps([response.status_code, pairs, version]).encode())
    assert not isinstance(response.stream, bytes)
    async for piece in response.stream:  # type: ignore[union-attr]
        writing.piece(piece)
        _tell(writer, PIECE, piece)
    writing.end()
    _tell(writer, END)


def _tell(writer: asyncio.StreamWriter, kind: bytes, data: bytes = b"") -> None:
    """Without waiting: a provider is read at its own speed."""
    if not writer.is_closing():
        writer.write(frame(kind, data))


async def _unwanted(reader: asyncio.StreamReader, writing: Writing) -> None:
    """Ends when nobody hears the answer any more and nobody can ever read it."""
    with suppress(ConnectionError):
        await reader.read()
    with suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST):
            while writing.is_wanted:
                await asyncio.sleep(_LOOK_AGAIN)


def main() -> None:
    import anyio._backends._asyncio  # noqa: PLC0415 - what the first request would load
    import httpx2  # noqa: PLC0415

    del anyio, httpx2
    asyncio.run(_Relay(socket.socket(fileno=0)).run())
    os._exit(0)


if __name__ == "__main__":
    main()
