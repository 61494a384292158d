"""One request to a provider and its streamed answer."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.settings import ModelSettings

from forge.agents import pricing
from forge.agents.model import OnText, Prompt
from forge.agents.models import opaque
from forge.agents.models.connections import Connection
from forge.agents.models.conversion import cache_key, to_library, tool_definitions
from forge.agents.models.endpoint import Endpoint
from forge.agents.models.failures import CutOff, FilteredAnswer, Senseless, was_sent
from forge.agents.models.structured_output import bound, object_in
from forge.sessions.messages import AssistantMessage, ToolCall, Usage

_BETWEEN = "\n\n"
CUT_NOTE = "\n\n(The answer was cut here: it reached the limit for its length.)"


class Asking:
    """A prompt, put into the provider's form once, however often it is sent."""

    def __init__(self, endpoint: Endpoint, connection: Connection, prompt: Prompt, *, binds: bool = True) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._messages = to_library(prompt, name=endpoint.name)
        self._free = tool_definitions(prompt.tools)
        self._form = prompt.form if binds else None
        self._tools = bound(self._free, self._form, connection.model.profile) if self._form else self._free
        self.lost = Usage()
        self._settings = dict(connection.settings)
        if connection.takes_cache_key:
            self._settings["openai_prompt_cache_key"] = cache_key(prompt)

    @property
    def is_bound(self) -> bool:
        return self._tools is not self._free

    def unbind(self) -> None:
        """The server does not take the form: the answer is asked for without, and read as it comes."""
        self._tools, self._form = self._free, None

    async def once(self, on_text: OnText) -> AssistantMessage:
        """Send it. What requests without an answer took is added to `lost`, as far as the provider said it."""
        network = self._endpoint.network
        loop = asyncio.get_running_loop()
        text = Text(on_text)
        taken = Usage(requests=1)
        try:
            async with asyncio.timeout(network.connect_seconds + network.idle_seconds) as patience:
                async with self._connection.model.request_stream(
                    self._messages, cast("ModelSettings", self._settings), self._tools
                ) as stream:
                    try:
                        async for event in stream:
                            patience.reschedule(loop.time() + network.idle_seconds)
                            text.hear(event)
                    finally:
                        response = stream.get()
                        taken = self._usage(response)
            return self._message(response, text, taken)
        except BaseException as error:
            if was_sent(error):
                self.lost += taken
            raise

    def _message(self, response: ModelResponse, text: Text, taken: Usage) -> AssistantMessage:
        if response.finish_reason is None:
            raise CutOff
        if self._form and not text.value.strip() and (given := object_in(response, self._form)) is not None:
            text.say(given)
            return AssistantMessage(text.value, (), self._endpoint.name, taken + self.lost, (), is_cut(response))
        calls = tuple(
            ToolCall(part.tool_call_id, part.tool_name, part.args_as_dict())
            for part in response.parts
            if isinstance(part, ToolCallPart)
        )
        if not calls and not text.value.strip():
            raise FilteredAnswer if response.finish_reason == "content_filter" else Senseless
        spans = text.spans(response)
        kept = opaque.keep(response, spans, len(text.value)) if spans is not None else ()
        cut = is_cut(response)
        if cut:
            kept = ()
            if not calls:
                text.say(CUT_NOTE)
        return AssistantMessage(text.value, calls, self._endpoint.name, taken + self.lost, kept, cut)

    def _usage(self, response: ModelResponse) -> Usage:
        used = response.usage
        usage = Usage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cache_read_tokens=used.cache_read_tokens,
            cache_write_tokens=used.cache_write_tokens,
            requests=1,
        )
        if not usage.input_tokens and not usage.output_tokens:
            return usage
        told = (response.provider_details or {}).get("cost")
        at = self._endpoint
        return pricing.priced(usage, at.provider, at.model, told=told if isinstance(told, int | float) else None)


def is_cut(response: ModelResponse) -> bool:
    return response.finish_reason == "length"


class Text:
    """The text of an answer as it comes. Parts with something else between them are kept apart by an empty line."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._last: int | None = None
        self.value = ""

    def hear(self, event: Any) -> None:
        match event:
            case PartStartEvent(index=index, part=TextPart(content=content)):
                self._piece(index, content)
            case PartDeltaEvent(index=index, delta=TextPartDelta(content_delta=content)):
                self._piece(index, content)

    def _piece(self, index: int, piece: str) -> None:
        if not piece:
            return
        if self._last is not None and index > self._last + 1:
            self.say(_BETWEEN)
        self._last = index
        self.say(piece)

    def say(self, piece: str) -> None:
        self.value += piece
        self._on_text(piece)

    def spans(self, response: ModelResponse) -> list[tuple[int, int]] | None:
        """Where each text part of the whole answer stands in what was heard; None if they do not fit together."""
        found: list[tuple[int, int]] = []
        place = 0
        for part in response.parts:
            if isinstance(part, TextPart):
                start = self.value.find(part.content, place)
                if start < 0:
                    return None
                place = start + len(part.content)
                found.append((start, place))
        return found
