"""Asking again: with growing pauses while a provider is overloaded or out of reach, once when it answered nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina
from stamina.instrumentation import set_on_retry_hooks

from forge.agents.models import failures
from forge.agents.models.endpoint import Endpoint

T = TypeVar("T")

# Its default hook writes to standard error, which belongs to the command line.
set_on_retry_hooks(())

_LONGEST_WAIT = 30.0


async def patiently(ask: Callable[[], Awaitable[T]], endpoint: Endpoint) -> T:
    """What `ask` gives. Raises a `ForgeError` when trying again is no use or the time for it is over."""
    end = time.monotonic() + endpoint.network.retry_seconds
    senseless = 0

    def again(error: Exception) -> bool | float:
        nonlocal senseless
        if failures.is_senseless(error):
            senseless += 1
            return senseless == 1
        if not failures.is_passing(error):
            return False
        wait = failures.asked_wait(error)
        if wait is None:
            return time.monotonic() < end
        return wait if time.monotonic() + wait <= end else False

    try:
        async for attempt in stamina.retry_context(
            on=again,
            attempts=10,
            timeout=None,
            wait_initial=endpoint.first_wait,
            wait_max=_LONGEST_WAIT,
            wait_jitter=endpoint.first_wait / 2,
        ):
            with attempt:
                return await ask()
    except failures.TRANSLATED as error:
        # The library's error quotes what the provider said, which may be the key: it goes no further.
        raise failures.translated(error, endpoint) from None
    raise AssertionError("stamina raises what the last attempt raised")
