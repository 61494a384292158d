"""Subscriptions to resources: a client is told when the text at an address changed, as long as it listens.

In protocol 2026-07-28 it listens by a request of its own; in 2025-11-25 its connection keeps what it subscribed to.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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


class Told(Protocol):
    """Where an update goes."""

    async def publish(self, event: ResourceUpdated) -> None: ...


@dataclass(frozen=True, slots=True)
class _Connection:
    """A client of the older generation."""

    context: Context

    async def publish(self, event: ResourceUpdated) -> None:
        await self.context.session.send_resource_updated(event.uri)


class Standing:
    """What connections of the older generation have subscribed to."""

    async def subscribe(self, call: Call, context: Context, uri: str) -> None:
        """Again is no harm. An address that does not exist is refused; one that never changes is accepted."""
        watches = _watches(context)
        if uri in watches:
            return
        if len(watches) >= _MOST_ADDRESSES:
            raise MCPError(types.INVALID_PARAMS, f"Subscribe to at most {_MOST_ADDRESSES} resources.")
        text = await resources.read(call, uri)
        if text.topic is not None:
            watch = _watch(call, _Connection(context), text.topic, {uri: _mark(text.text)})
            watches[uri] = asyncio.create_task(watch)

    async def unsubscribe(self, context: Context, uri: str) -> None:
        watch = _watches(context).pop(uri, None)
        if watch is not None:
            watch.cancel()


_STATE = "forge.subscriptions"


def _watches(context: Context) -> dict[str, asyncio.Task[None]]:
    """Of this connection; they end with it."""
    connection = context.session._connection  # noqa: SLF001 - the library offers its state to handlers by no other name
    if _STATE not in connection.state:
        watches: dict[str, asyncio.Task[None]] = {}
        connection.state[_STATE] = watches
        connection.exit_stack.callback(lambda: [each.cancel() for each in watches.values()])
    found: dict[str, asyncio.Task[None]] = connection.state[_STATE]
    return found


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


async def _watch(call: Call, bus: Told, topic: str, marks: dict[str, str]) -> None:
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


async def _look(call: Call, bus: Told, marks: dict[str, str]) -> None:
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
