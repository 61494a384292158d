"""Asking again: with growing pauses, as often as the settings allow for each kind of trouble."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from forge.agents.listener import Retry
from forge.agents.models import failures
from forge.agents.models.endpoint import Endpoint
from forge.sessions.messages import Usage

T = TypeVar("T")
_LONGEST_WAIT = 30.0


async def patiently(
    ask: Callable[[], Awaitable[T]],
    endpoint: Endpoint,
    *,
    scheduled: Callable[[Retry], None] = lambda _: None,
    spent: Callable[[], Usage] = Usage,
) -> T:
    """What `ask` gives. `scheduled` is told before each wait; `spent` says what was spent so far.

    Raises a `ForgeError` when trying again is no use, or when the tries for this kind of trouble or the time are over.
    """
    end = time.monotonic() + endpoint.network.retry_seconds
    tried: Counter[str] = Counter()
    while True:
        try:
            return await ask()
        except failures.TRANSLATED as error:
            kind = failures.kind_of(error)
            wait = _wait(error, tried[kind or ""], endpoint)
            most = 0 if kind is None else endpoint.network.retries.of(kind)
            if kind is None or tried[kind] >= most or time.monotonic() + wait > end:
                # The library's error quotes what the provider said, which may be the key: it goes no further.
                raise failures.translated(error, endpoint) from None
        tried[kind] += 1
        scheduled(Retry(kind, tried[kind], most, wait, spent()))
        await asyncio.sleep(wait)


def _wait(error: Exception, before: int, endpoint: Endpoint) -> float:
    asked = failures.asked_wait(error)
    if asked is not None:
        return asked
    usual: float = min(endpoint.first_wait * 2**before, _LONGEST_WAIT)
    return usual + random.uniform(0, endpoint.first_wait / 2)  # noqa: S311 - only so that not all come at once
