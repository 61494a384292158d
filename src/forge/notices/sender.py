"""Delivers what is in the outbox, each channel for itself, beside the work and never in its way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from forge.errors import ForgeError
from forge.notices.errors import NotDelivered, NoticeInvalid
from forge.notices.payload import from_json, to_json
from forge.plugins.roles import Channel, Notice
from forge.store.outbox import Entry, Outbox

Warn = Callable[[Notice | None, str], None]
"""Takes a warning for a log; with the notice where it is about one."""

ATTEMPTS = 2
"""A delivery that fails is tried once more. One that is cut off is repeated once as well."""

TOO_OLD = 7 * 86_400.0
_LONGEST_PAUSE = 60.0


class Sender:
    def __init__(
        self,
        outbox: Outbox,
        channels: Mapping[str, Channel],
        *,
        warn: Warn,
        now: Callable[[], float] = time.time,
        retry_seconds: float = 30.0,
        send_seconds: float = 20.0,
        idle_seconds: float = 5.0,
    ) -> None:
        self._outbox = outbox
        self._channels = channels
        self._warn = warn
        self._now = now
        self._retry_seconds = retry_seconds
        self._send_seconds = send_seconds
        self._idle_seconds = idle_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: dict[str, asyncio.Event] = {}

    def tell(self, key: str, notice: Notice, *, by: Collection[str] | None = None) -> None:
        """Put it in the outbox for every channel (or those named), once per `key`; another thread may do so."""
        for channel in self._channels if by is None else by:
            self._outbox.add(f"{key}/{channel}", channel, to_json(notice), now=self._now())
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has just been closed: the next process sends it
                loop.call_soon_threadsafe(self._wake)

    async def run(self) -> None:
        """Until cancelled. What other processes put into the outbox is found as well, a little later."""
        self._loop = asyncio.get_running_loop()
        self._news = {name: asyncio.Event() for name in self._channels}
        try:
            async with asyncio.TaskGroup() as group:
                for name in self._channels:
                    group.create_task(self._keep_sending(name))
        finally:
            self._loop = None

    async def flush(self, timeout: float = 2.0) -> None:
        """Send what is due, for at most this long. What is left is sent by the next process; nothing is raised."""
        work = [asyncio.ensure_future(self._drain(name)) for name in self._channels]
        if not work:
            return
        _, late = await asyncio.wait(work, timeout=timeout)
        for task in late:
            task.cancel()
        for outcome in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(outcome, ForgeError):
                self._warn(None, f"notices wait for the next start: {outcome}")
            elif isinstance(outcome, Exception):
                raise outcome

    def _wake(self) -> None:
        for event in self._news.values():
            event.set()

    async def _keep_sending(self, channel: str) -> None:
        pause = self._idle_seconds
        while True:
            self._news[channel].clear()
            try:
                await self._drain(channel)
                pause = await asyncio.to_thread(self._pause, channel)
            except ForgeError as error:
                pause = min(max(pause, self._idle_seconds) * 2, _LONGEST_PAUSE)
                self._warn(None, f"notices cannot be sent by {channel} now: {error}")
            try:
                async with asyncio.timeout(pause):
                    await self._news[channel].wait()
            except TimeoutError:
                continue

    def _pause(self, channel: str) -> float:
        due = self._outbox.next_due(channels=[channel])
        return self._idle_seconds if due is None else min(max(due - self._now(), 0.01), self._idle_seconds)

    async def _drain(self, channel: str) -> None:
        while True:
            claimed = await self._claim(channel)
            if not claimed:
                return
            await self._deliver(claimed[0], self._channels[channel])

    async def _claim(self, channel: str) -> tuple[Entry, ...]:
        claiming = asyncio.ensure_future(asyncio.to_thread(self._outbox.claim, 1, self._now(), channels=[channel]))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The claim is made all the same, and nobody would send it: it is returned.
            for entry in await claiming:
                self._outbox.release(entry.id)
            raise

    async def _deliver(self, entry: Entry, channel: Channel) -> None:
        try:
            notice = from_json(entry.notice)
        except NoticeInvalid as error:
            return await self._give_up(entry, None, error.message)
        if entry.interrupted >= ATTEMPTS:
            return await self._give_up(entry, notice, "it was cut off twice while being sent")
        if self._now() - entry.created > TOO_OLD:
            return await self._give_up(entry, notice, "it is more than a week old")
        try:
            async with asyncio.timeout(self._send_seconds):
                await _send(channel, notice)
        except TimeoutError:
            await self._failed(entry, notice, NotDelivered(f"no answer within {self._send_seconds:g} s"))
        except ForgeError as error:
            await self._failed(entry, notice, error)
        except asyncio.CancelledError:
            # It may have arrived or not. Written down here and now: there is no later.
            self._outbox.interrupted(entry.id, "cut off while being sent", now=self._now())
            raise
        else:
            await asyncio.to_thread(self._outbox.done, entry.id)
        return None

    async def _failed(self, entry: Entry, notice: Notice, error: ForgeError) -> None:
        if entry.attempts + 1 >= ATTEMPTS:
            return await self._give_up(entry, notice, error.message)
        retry_at = self._now() + self._retry_seconds
        await asyncio.to_thread(self._outbox.failed, entry.id, error.message, retry_at)
        self._warn(notice, f"notification by {entry.channel} failed, one more try follows: {error.message}")
        return None

    async def _give_up(self, entry: Entry, notice: Notice | None, reason: str) -> None:
        await asyncio.to_thread(self._outbox.failed, entry.id, reason, None)
        self._warn(notice, f"notification by {entry.channel} given up: {reason}")


async def _send(channel: Channel, notice: Notice) -> None:
    try:
        await channel.send(notice)
    except (ForgeError, TimeoutError):
        raise
    except Exception as error:
        # A stranger's channel may raise anything; its words are left out, for they may hold its token.
        raise NotDelivered(f"the channel broke with {type(error).__name__}", hint="report it to its author") from error
