"""A model behind a provider's API: one request, streamed, retried while that is safe, and counted."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from forge.agents import pricing
from forge.agents.listener import start_again, tell_retry, tell_spent
from forge.agents.model import OnText, Prompt
from forge.agents.models.endpoint import Endpoint
from forge.agents.relay.journal import opened_page
from forge.sessions.messages import AssistantMessage

if TYPE_CHECKING:
    from forge.agents.models.connections import Connection
    from forge.agents.models.provider_request import Asking

_WINDOWS = {"anthropic": 200_000, "openai": 128_000, "openrouter": 128_000, "google": 1_000_000, "ollama": 16_384}
_SMALL_WINDOW = 32_768


class ApiModel:
    """Holds one connection, made in a thread when it is first needed: importing a provider's library takes seconds."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._connection: Connection | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._binds = True
        """Until the server refuses a form and answers without it."""

    def __repr__(self) -> str:
        return f"ApiModel({self.name!r})"

    @property
    def name(self) -> str:
        return self.endpoint.name

    @property
    def context_window(self) -> int:
        at = self.endpoint
        return (
            at.context_window
            or pricing.context_window(at.provider, at.model)
            or _WINDOWS.get(at.provider, _SMALL_WINDOW)
        )

    async def prepare(self) -> Connection:
        """Connect ahead of the first question. A connection belongs to the event loop that made it."""
        loop = asyncio.get_running_loop()
        if self._connection is None or self._loop is not loop:
            made = await asyncio.to_thread(_connect, self.endpoint)
            # Two questions may come at once; the first connection is the one that both use.
            if self._connection is None or self._loop is not loop:
                self._connection, self._loop = made, loop
        return self._connection

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        """See `Model`. When a half-streamed answer is asked for again, `on_text.restart()` is called if it exists."""
        from forge.agents.relay import link  # noqa: PLC0415 - only who asks a provider needs it

        is_relayed = opened_page() is not None
        if is_relayed:
            await link.start()  # it is there by the time that the libraries are
        connection = await self.prepare()
        from forge.agents.models.provider_request import Asking  # noqa: PLC0415 - imports the model library
        from forge.agents.models.retries import patiently  # noqa: PLC0415

        asking = Asking(self.endpoint, connection, prompt, binds=self._binds)
        heard = False

        def hear(text: str) -> None:
            nonlocal heard
            heard = True
            on_text(text)

        kept = await _kept(asking, hear)
        if kept is not None:
            return kept
        if is_relayed:
            await link.ready()

        async def ask() -> AssistantMessage:
            nonlocal heard
            if heard:
                start_again(on_text)
                heard = False
            return await self._once(asking, hear)

        try:
            return await patiently(
                ask, self.endpoint, scheduled=partial(tell_retry, on_text), spent=lambda: asking.lost
            )
        except BaseException:  # also when nobody waits for it any more
            tell_spent(on_text, asking.lost)
            raise

    async def _once(self, asking: Asking, hear: OnText) -> AssistantMessage:
        """Servers that speak like a provider do not all know its structured output: refused, it is left away."""
        from forge.agents.models.failures import is_rejected  # noqa: PLC0415 - imports the model library

        try:
            return await asking.once(hear)
        except Exception as error:
            if not asking.is_bound or not is_rejected(error):
                raise
        asking.unbind()
        answer = await asking.once(hear)
        self._binds = False
        return answer

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._loop is asyncio.get_running_loop():
            await connection.client.aclose()


async def _kept(asking: Asking, hear: OnText) -> AssistantMessage | None:
    """The answer that a process did not live to record, also while it is still received for it.

    Whether it is whole shows when it is read, so what nobody receives any more is not told before that.
    """
    from forge.agents.models.failures import TRANSLATED  # noqa: PLC0415 - imports the model library

    page = opened_page()
    if page is None or not page.is_begun:
        return None
    is_coming = page.is_written
    try:
        with page.read_only():
            answer = await asking.once(hear if is_coming else lambda _: None)
    except TRANSLATED:
        page.discard()
        return None
    if not is_coming:
        hear(answer.text)
    return answer


def _connect(endpoint: Endpoint) -> Connection:
    from forge.agents.models.connections import connect  # noqa: PLC0415

    return connect(endpoint)
