"""Live events over a WebSocket: topics are subscribed to, each is replayed from an id on and then followed.

A slow client holds up nobody: what waits for it is bounded, live pieces are dropped first and recorded events are read
from the database again, so it misses none of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from functools import lru_cache
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from forge.api.http.problems import document, status_of
from forge.app.access.identity import Who
from forge.app.events import Heard, Topic, hear, topic_for
from forge.app.process.workshop import Workshop
from forge.errors import Denied, ForgeError, InvalidInput, NotFound, Upstream
from forge.events import Event, to_json

HEARTBEAT = 15.0
_PATIENCE = 2.0
_TOPICS = 100
_LONGEST = 4096
NOT_TEXT, POLICY, TOO_BIG = 1003, 1008, 1009


class SubscriptionInvalid(InvalidInput):
    code = "subscription_invalid"


class EventUnknown(InvalidInput):
    code = "event_unknown"


class Stream:
    """One client: a task for each topic that it hears, and one that reads what it wants."""

    def __init__(
        self,
        socket: WebSocket,
        shop: Workshop,
        who: Who,
        *,
        may_stay: Callable[[], Awaitable[bool]] | None = None,
        counted: Callable[[], None] = lambda: None,
        refused: Callable[[Denied], Awaitable[None]] | None = None,
    ) -> None:
        """`may_stay` is asked with each heartbeat and after `look_again`: a key may be revoked in the meantime.

        `counted` is called for each message, and raises where there were too many. `refused` is told what somebody
        wanted and may not.
        """
        self._socket = socket
        self._shop = shop
        self._who = who
        self._may_stay = may_stay
        self._counted = counted
        self._refused = refused
        self._heard: dict[str, asyncio.Task[None]] = {}
        self._doubted = asyncio.Event()
        # It may have been revoked between the gate and here.
        self._doubted.set()
        self._loop = asyncio.get_running_loop()
        self._broken: asyncio.Future[None] = self._loop.create_future()

    def look_again(self) -> None:
        """By any thread: what this client may hear has perhaps changed."""
        # A loop that is closed has no clients any more.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._doubted.set)

    async def run(self, topics: Sequence[str], after: int | str) -> None:
        reading = asyncio.create_task(self._read(topics, after))
        beating = asyncio.create_task(self._beat())
        ends = {reading, beating, self._broken}
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = (*ends, *self._heard.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _read(self, topics: Sequence[str], after: int | str) -> None:
        for topic in topics:
            await self._answer({"subscribe": topic, "after": after})
        while (text := await self._received()) is not None:
            await self._answer(_wanted(text))

    async def _received(self) -> str | None:
        """None: they are gone, or sent away for what they sent."""
        try:
            text = await self._socket.receive_text()
        except WebSocketDisconnect:
            return None
        except KeyError:
            await self._send_away(NOT_TEXT, "messages are text")
            return None
        if len(text) > _LONGEST:
            await self._send_away(TOO_BIG, "message too long")
            return None
        return text

    async def _send_away(self, code: int, reason: str) -> None:
        """One that does not read would hold up the word of farewell as well."""
        with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
            async with asyncio.timeout(_PATIENCE):
                await self._socket.close(code, reason)

    async def _answer(self, wanted: dict[str, Any]) -> None:
        try:
            self._counted()
            await self._do(wanted)
        except ForgeError as e:
            if self._refused is not None and isinstance(e, Denied):
                await self._refused(e)
            told = document(status_of(e), e.code, e.message, e.hint)
            await self._say(json.dumps({"topic": wanted.get("subscribe"), "problem": told}))

    async def _do(self, wanted: dict[str, Any]) -> None:
        match wanted:
            case {"subscribe": str(name)}:
                after = wanted.get("after", 0)
                if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after < 1 << 62:
                    raise SubscriptionInvalid("`after` is no event id.", hint="Send the id that you saw last.")
                await self._subscribe(name, after)
            case {"unsubscribe": str(name)}:
                if (task := self._heard.pop(name, None)) is not None:
                    task.cancel()
            case {"pong": _}:
                return
            case _:
                raise SubscriptionInvalid(
                    "This message means nothing.",
                    hint='Send {"subscribe": topic, "after": id} or {"unsubscribe": topic}.',
                )

    async def _subscribe(self, name: str, after: int) -> None:
        """Once more for the same topic begins it anew, from `after` on."""
        if name not in self._heard and len(self._heard) >= _TOPICS:
            raise SubscriptionInvalid(f"More than {_TOPICS} topics.", hint="Unsubscribe from some, or open another.")
        topic = await asyncio.to_thread(topic_for, self._shop, self._who, name)
        last = await asyncio.to_thread(self._shop.events.last, topic.stored)
        if after > last:
            # Another record than the one they know, such as one that came back from a backup: they would hear nothing.
            raise EventUnknown(
                f"There is no event {after}: the last one is {last}.",
                hint="Read the list again and continue from its last id.",
            )
        if (before := self._heard.pop(name, None)) is not None:
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
        await self._say(json.dumps({"topic": name, "subscribed": True, "after": after}))
        self._heard[name] = asyncio.create_task(self._hear(topic, after))
        self._heard[name].add_done_callback(self._stopped_hearing)
        # It may have been taken from them since it was looked at, when it was not yet among these.
        await self._drop_if_theirs_no_more(name)

    async def _hear(self, topic: Topic, after: int) -> None:
        while True:
            try:
                async with aclosing(hear(self._shop, topic, after)) as heard:
                    async for item in heard:
                        after = item.id or after
                        await self._say(told(topic.name, item))
            except Upstream:  # the database is away: it continues from here
                await asyncio.sleep(_PATIENCE)

    def _stopped_hearing(self, task: asyncio.Task[None]) -> None:
        """By a mistake: better no connection, which the client notices, than one that is silent."""
        if not task.cancelled() and (error := task.exception()) is not None and not self._broken.done():
            self._broken.set_exception(error)

    async def _say(self, text: str) -> None:
        """Waits while the client is slow; meanwhile each topic's inbox is bounded, and drops live pieces."""
        # Gone, which the reader notices; the second one: closed by it just now.
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(text)

    async def _beat(self) -> None:
        number = 0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    await self._doubted.wait()
            doubted = self._doubted.is_set()
            self._doubted.clear()
            if self._may_stay is not None and not await self._may_stay():
                await self._send_away(POLICY, "sign_in_needed")
                return
            for name in tuple(self._heard):
                await self._drop_if_theirs_no_more(name)
            if not doubted:
                number += 1
                await self._mention(json.dumps({"ping": number}))

    async def _drop_if_theirs_no_more(self, name: str) -> None:
        """What was shared may not be shared any more. The person at this machine hears everything."""
        if self._who.is_local:
            return
        try:
            await asyncio.to_thread(topic_for, self._shop, self._who, name)
        except (NotFound, Denied) as e:
            if (task := self._heard.pop(name, None)) is not None:
                task.cancel()
            told = document(status_of(e), e.code, e.message, e.hint)
            await self._mention(json.dumps({"topic": name, "problem": told}))

    async def _mention(self, text: str) -> None:
        """What they may hear is looked at in time, also when they do not read."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._say(text)


def _wanted(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def told(topic: str, item: Heard) -> str:
    if item.id is None:
        return _live(topic, item.event)
    return _recorded(topic, item.id, item.time, item.event)


# Many clients hear the same topic: it is written once for all of them.
@lru_cache(maxsize=512)
def _live(topic: str, event: Event) -> str:
    return json.dumps({"topic": topic, "live": True, "event": to_json(event)})


@lru_cache(maxsize=512)
def _recorded(topic: str, id_: int, time: float, event: Event) -> str:
    return json.dumps({"topic": topic, "id": id_, "time": time, "event": to_json(event)})
