"""Records of what is long over go by themselves, in whoever serves: steps of runs, events, notices.

What a person made is not among them: files, conversations and projects are in git; costs, questions and the audit stay.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from forge.app.process.workshop import Workshop
from forge.errors import Upstream
from forge.store.retention import forget_events, forget_notices

_FIRST = 60.0
_EVERY = 6 * 3600.0
_DAY = 24 * 3600.0
_PAUSE = 0.05
"""Seconds between two parts: others write meanwhile."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    runs: int
    """Of which the steps are gone."""
    events: int
    notices: int


async def forget_from_time_to_time(shop: Workshop) -> None:
    await asyncio.sleep(_FIRST)
    while True:
        with suppress(Upstream):  # the database is away; what is left is still there next time
            await forget(shop, now=time.time())
        await asyncio.sleep(_EVERY)


async def forget(shop: Workshop, *, now: float) -> Forgotten:
    days = shop.settings.records.keep_days
    if days is None:
        return Forgotten(0, 0, 0)
    before = now - days * _DAY
    return Forgotten(
        runs=await _in_parts(shop.engine.forget_steps(before)),
        events=await _in_parts(forget_events(shop.database, before)),
        notices=await _in_parts(forget_notices(shop.database, before)),
    )


async def _in_parts(parts: Iterator[int]) -> int:
    gone = 0
    while part := await asyncio.to_thread(next, parts, 0):
        gone += part
        await asyncio.sleep(_PAUSE)
    return gone
