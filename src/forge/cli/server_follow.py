"""Events of one topic of the server, until what they are about is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from forge.cli.server_client import ServerClient
from forge.events import Event, from_json

_PAGE = 500


async def followed(
    client: ServerClient, topic: str, after: int, is_over: Callable[[], Awaitable[bool]]
) -> AsyncIterator[tuple[int | None, Event]]:
    """Every event after that id, each once and in order; live ones have no id. `is_over` waits a moment by itself."""
    last = after
    over = asyncio.create_task(_until_over(is_over))
    try:
        async for id_, event in _heard(client, topic, after, over):
            last = id_ or last
            yield id_, event
        # A run's events are recorded before its end is, so the rest is there now.
        async for id_, event in _rest(client, topic, last):
            yield id_, event
    finally:
        over.cancel()
        await asyncio.gather(over, return_exceptions=True)


async def _until_over(is_over: Callable[[], Awaitable[bool]]) -> None:
    while not await is_over():
        pass


async def _heard(
    client: ServerClient, topic: str, after: int, over: asyncio.Task[None]
) -> AsyncIterator[tuple[int | None, Event]]:
    async with aclosing(client.follow(topic, after)) as heard:  # type: ignore[type-var]
        while not over.done():
            coming = asyncio.ensure_future(anext(heard))
            try:
                await asyncio.wait({coming, over}, return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    yield coming.result()
            finally:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
    await over


async def _rest(client: ServerClient, topic: str, after: int) -> AsyncIterator[tuple[int, Event]]:
    while True:
        page = await client.get("/events", topic=topic, after=after, limit=_PAGE)
        for item in page["items"]:
            after = item["id"]
            yield after, from_json(item["event"])
        if len(page["items"]) < _PAGE:
            return
