"""The HTTP client behind models: what a provider streams is in the journal before anything else sees it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from forge.agents.relay import link
from forge.agents.relay.journal import Page, Reading, Writing, opened_page
from forge.agents.relay.process import END, FAILED, HEAD, Asked, Route

_KEPT_AS = "forge_page"
_LOOK_AGAIN = 0.01


class NotJournaled(httpx2.ReadError):
    """The page has no answer to this question; nothing was sent."""


class JournaledClient(httpx2.AsyncClient):
    """Asks the network; or, where a page is open for reading only, that page and nobody else."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        page = opened_page()
        if page is None or not stream:
            return await super().send(request, stream=stream, **options)
        question = _digest(request)
        if page.only_kept:
            return await _kept(page, question, request)
        request.extensions = {**request.extensions, _KEPT_AS: (page, question)}
        return await super().send(request, stream=True, **options)

    def _init_transport(self, *, trust_env: bool = True, **options: Any) -> httpx2.AsyncBaseTransport:  # type: ignore[override]
        return _Kept(super()._init_transport(trust_env=trust_env, **options), Route(trust_env))

    def _init_proxy_transport(  # type: ignore[override]
        self, proxy: httpx2.Proxy, *, trust_env: bool = True, **options: Any
    ) -> httpx2.AsyncBaseTransport:
        made = super()._init_proxy_transport(proxy, trust_env=trust_env, **options)
        return _Kept(made, Route(trust_env, str(proxy.url), proxy.auth))


def _digest(request: httpx2.Request) -> str:
    return hashlib.sha256(f"{request.method} {request.url}\n".encode() + request.content).hexdigest()


class _Kept(httpx2.AsyncBaseTransport):
    """Lets the relay ask where the answer is to be kept; where there is no relay, asks itself and keeps it."""

    def __init__(self, direct: httpx2.AsyncBaseTransport, route: Route) -> None:
        self._direct = direct
        self._route = route

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        kept_as: tuple[Page, str] | None = request.extensions.get(_KEPT_AS)
        if kept_as is None:
            return await self._direct.handle_async_request(request)
        page, question = kept_as
        relayed = await link.ask(page, question, await _asked(request, self._route))
        if relayed is not None:
            return await _relayed(relayed)
        response = await self._direct.handle_async_request(request)
        if response.status_code == httpx2.codes.OK:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            writing = page.begin(question)
            writing.head(response.status_code, response.headers.raw)
            response.stream = _Keeping(response.stream, writing)
        return response

    async def aclose(self) -> None:
        await self._direct.aclose()


async def _asked(request: httpx2.Request, route: Route) -> Asked:
    assert isinstance(request.stream, httpx2.AsyncByteStream)
    body = b"".join([part async for part in request.stream])
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    timeout = request.extensions.get("timeout", {})
    return Asked(request.method, str(request.url), headers, timeout, route, body)


async def _relayed(relayed: link.RelayedRequest) -> httpx2.Response:
    try:
        kind, data = await _heard(relayed)
        assert kind == HEAD
    except BaseException:
        relayed.close()
        raise
    status, headers, version = json.loads(data)
    return httpx2.Response(
        status,
        headers=_raw(headers),
        stream=_Relayed(relayed),
        extensions={"http_version": version.encode("ascii")},
    )


async def _heard(relayed: link.RelayedRequest) -> tuple[bytes, bytes]:
    try:
        kind, data = await relayed.hear()
    except (EOFError, ConnectionError):
        raise httpx2.ReadError("the process that asks for this one was ended") from None
    if kind == FAILED:
        name, message = json.loads(data)
        failed = getattr(httpx2, name, None)
        if isinstance(failed, type) and issubclass(failed, httpx2.TransportError):
            raise failed(message)
        raise httpx2.ReadError(message)
    return kind, data


def _raw(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


class _Relayed(httpx2.AsyncByteStream):
    def __init__(self, relayed: link.RelayedRequest) -> None:
        self._relayed = relayed
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Some libraries stop at the last event and come back for what is left.
        while not self._ended:
            kind, data = await _heard(self._relayed)
            self._ended = kind == END
            if not self._ended:
                yield data

    async def aclose(self) -> None:
        self._relayed.close()


class _Keeping(httpx2.AsyncByteStream):
    """Takes what has arrived at once, however long whoever reads it thinks about each piece."""

    def __init__(self, stream: httpx2.AsyncByteStream, writing: Writing) -> None:
        self._stream = stream
        self._writing = writing
        self._received: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._receiving: asyncio.Task[None] | None = None
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Some libraries stop at the last event and come back for what is left.
        self._receiving = self._receiving or asyncio.create_task(self._receive())
        while not self._ended:
            piece = await self._received.get()
            self._ended = piece is None
            if piece is not None:
                yield piece
        await self._receiving

    async def _receive(self) -> None:
        try:
            async for piece in self._stream:
                self._writing.piece(piece)
                self._received.put_nowait(piece)
            self._writing.end()
        finally:
            self._received.put_nowait(None)

    async def aclose(self) -> None:
        try:
            if self._receiving is not None:
                self._receiving.cancel()
                # How it ended was told to whoever read to the end; to others it does not matter.
                await asyncio.gather(self._receiving, return_exceptions=True)
        finally:
            self._writing.close()
            await self._stream.aclose()


async def _kept(page: Page, question: str, request: httpx2.Request) -> httpx2.Response:
    reading = page.read()
    if reading is None:
        raise NotJournaled("nothing is kept of this answer", request=request)
    followed = _Followed(reading)
    try:
        first = json.loads(await followed.next())
        head = json.loads(await followed.next()) if first["question"] == question else None
    except BaseException:
        await followed.aclose()
        raise
    if head is None:
        await followed.aclose()
        raise NotJournaled("what is kept answers something else", request=request)
    return httpx2.Response(head["status"], headers=_raw(head["headers"]), stream=followed, request=request)


class _Followed(httpx2.AsyncByteStream):
    """What is kept of an answer and, as long as somebody receives it, what is still to come."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._pieces: list[bytes] = []

    async def next(self) -> bytes:
        """Nothing at the end."""
        while not self._pieces:
            # Asked first: what was written before its writer ended is read after that.
            more_may_come = self._reading.is_written
            self._pieces = self._reading.pieces()
            if not self._pieces:
                if not more_may_come:
                    raise httpx2.RemoteProtocolError("the answer was not received to its end")
                await asyncio.sleep(_LOOK_AGAIN)
        return self._pieces.pop(0)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.next():
            yield piece

    async def aclose(self) -> None:
        self._reading.close()
