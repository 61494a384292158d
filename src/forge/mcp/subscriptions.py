"""Subscriptions to resources: a client is told when the text at an address changed, as long as it listens."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from forge.errors import ForgeError
from forge.mcp import resources
from forge.mcp.text import failure

if TYPE_CHECKING:
    from forge.mcp.call import Call
    from forge.mcp.server import Context

_MOST_ADDRESSES = 50
_MOST_STREAMS = 200
_SETTLED = 0.3
"""Seconds between two looks at what is changed often."""


class Listening:
    """All streams of one server."""

    def __init__(self) -> None:
        self._streams = 0

    async def __call__(
        self, call: Call, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = params.notifications.resource_subscriptions or []
        if len(wanted) > _MOST_ADDRESSES:
            raise MCPError(types.INVALID_PARAMS, f"Subscribe to at most {_MOST_ADDRESSES} resources.")
        if self._streams >= _MOST_STREAMS:
            raise MCPError(types.INTERNAL_ERROR, "Too many subscriptions. Try again later.")
        self._streams += 1
        try:
            return await _listened(call, context, params, wanted)
        finally:
            self._streams -= 1


async def _listened(
    call: Call, context: Context, params: types.SubscriptionsListenRequestParams, wanted: list[str]
) -> types.SubscriptionsListenResult:
    """Lists never change while a server runs; only texts do."""
    bus = InMemorySubscriptionBus()
    kept = types.SubscriptionFilter(resource_subscriptions=wanted or None)
    async with anyio.create_task_group() as watching:
        for topic, addresses in (await _topics(call, wanted)).items():
            watching.start_soon(_watch, call, bus, topic, addresses)
        result = await ListenHandler(bus)(context, params.model_copy(update={"notifications": kept}))
        watching.cancel_scope.cancel()
    return result


async def _topics(call: Call, wanted: list[str]) -> dict[str, dict[str, str]]:
    """Addresses with a mark of their text, by the topic where changes are published; unknown ones never change."""
    found: dict[str, dict[str, str]] = {}
    for uri in dict.fromkeys(wanted):
        try:
            text = await resources.read(call, uri)
        except ForgeError:
            continue
        if text.topic is not None:
            found.setdefault(text.topic, {})[uri] = _mark(text.text)
    return found


async def _watch(call: Call, bus: InMemorySubscriptionBus, topic: str, marks: dict[str, str]) -> None:
    from forge.app.events import hear, latest, topic_for  # noqa: PLC0415 - loads the database

    shop = await call.host.shop()
    try:
        named = await call.in_thread(lambda: topic_for(shop, call.who, topic))
    except ForgeError as e:
        raise MCPError(types.INVALID_PARAMS, failure(e)) from e
    after = await call.in_thread(lambda: latest(shop, named))
    # It may have changed between the first look and now.
    await _look(call, bus, marks)
    async for heard in hear(shop, named, after):
        if heard.id is not None:
            await _look(call, bus, marks)
            await anyio.sleep(_SETTLED)


async def _look(call: Call, bus: InMemorySubscriptionBus, marks: dict[str, str]) -> None:
    for uri, before in list(marks.items()):
        try:
            now = _mark((await resources.read(call, uri)).text)
        except ForgeError:  # deleted, or not theirs any more
            now = ""
        if now != before:
            marks[uri] = now
            await bus.publish(ResourceUpdated(uri=uri))


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
