"""The HTTP client behind models: what a provider streams is in the journal before anything else sees it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from forge.agents.journal import Kept, Page, Writing, opened_page


class KeepingClient(httpx2.AsyncClient):
    """Asks the network; or, where a page is open for reading only, that page and nobody else."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        page = opened_page()
        if page is None or not stream:
            return await super().send(request, stream=stream, **options)
        question = _digest(request)
        if page.only_kept:
            return _kept(page, question, request)
        response = await super().send(request, stream=True, **options)
        if response.status_code == httpx2.codes.OK:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Keeping(response.stream, page.begin(question, response.headers))
        return response


def _kept(page: Page, question: str, request: httpx2.Request) -> httpx2.Response:
    kept = page.read(question)
    if kept is None:
        raise httpx2.ReadError("nothing is kept of this answer", request=request)
    return httpx2.Response(200, headers=list(kept.headers), stream=_Replayed(kept), request=request)


def _digest(request: httpx2.Request) -> str:
    return hashlib.sha256(f"{request.method} {request.url}\n".encode() + request.content).hexdigest()


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


class _Replayed(httpx2.AsyncByteStream):
    def __init__(self, kept: Kept) -> None:
        self._pieces = iter(kept.pieces)
        self._whole = kept.whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if not self._whole:
            raise httpx2.RemoteProtocolError("the answer was not received to its end")
