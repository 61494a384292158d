"""Asking a registry one question: bounded in time and size, never twice, and every failure is a reason."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

import forge
from forge.deliverables.code.facts import Unknown

CONNECT_SECONDS, TOTAL_SECONDS = 5.0, 10.0
LARGEST = 20 * 1024 * 1024
_AT_ONCE = 6
_REDIRECTS = 3
_GONE, _REFUSED = (404, 410), (401, 403, 429)


class Fetcher:
    """One look at several components. A place that fails to answer, or refuses, is not asked again."""

    def __init__(self, bases: Iterable[str], *, total_seconds: float = TOTAL_SECONDS, largest: int = LARGEST) -> None:
        self._total_seconds = total_seconds
        self._largest = largest
        self._given_up: dict[str, Unknown] = {}
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(total_seconds, connect=min(CONNECT_SECONDS, total_seconds)),
            follow_redirects=True,
            max_redirects=_REDIRECTS,
            headers={"user-agent": f"forge/{forge.__version__}", "accept": "application/json"},
            # A proxy of the environment is for the outside world; a server on this machine is asked directly.
            trust_env=not all(on_this_machine(base) for base in bases),
        )

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def get(
        self, address: str, *, place: str, absent: str = "", query: Mapping[str, str | int] | None = None
    ) -> Any | Unknown:
        """The JSON at `address`. `place` is how reasons call whoever is asked; `absent` is the reason for a 404."""
        async with self._places:
            if place in self._given_up:
                return self._given_up[place]
            try:
                async with asyncio.timeout(self._total_seconds):
                    body = await self._body(address, place, absent, query)
            except TimeoutError:
                return self._give_up(place, f"{place} did not answer within {self._total_seconds:g} s")
            except (httpx2.HTTPError, httpx2.InvalidURL):
                return self._give_up(place, f"{place} not reachable")
        if isinstance(body, Unknown):
            return body
        try:
            return await asyncio.to_thread(json.loads, body)
        except (ValueError, RecursionError):
            return Unknown(f"{place} gave an answer that is not JSON")

    async def _body(
        self, address: str, place: str, absent: str, query: Mapping[str, str | int] | None
    ) -> bytes | Unknown:
        async with self._client.stream("GET", address, params=query) as response:
            status = response.status_code
            if status in _GONE:
                return Unknown(absent or f"{place} does not know it")
            if status in _REFUSED:
                return self._give_up(place, f"{place} refuses to answer (HTTP {status})")
            if status != httpx2.codes.OK:
                return Unknown(f"{place} answered with HTTP {status}")
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > self._largest:
                    return Unknown(f"{place} gave an answer of more than {self._largest // (1024 * 1024)} MB")
            return bytes(body)

    def _give_up(self, place: str, reason: str) -> Unknown:
        return self._given_up.setdefault(place, Unknown(reason))


def on_this_machine(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
