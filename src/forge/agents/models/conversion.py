"""Prompts in the words of the model library, answers in Forge's own. The same prompt gives the same bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from forge.agents.model import Picture, Prompt
from forge.agents.models import opaque
from forge.sessions.messages import AssistantMessage, ContextMessage, Message, ToolCall, ToolResult, UserMessage
from forge.tools.tool import ToolSchema

# Every provider takes such an id; answers of one provider may be sent to another one later.
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
NO_TEXT = "(empty)"
NOT_RUN = "(This call was not run: the turn ended before it.)"


def tool_definitions(tools: Iterable[ToolSchema]) -> ModelRequestParameters:
    """In the order of their names, so that the order in which tools were found never changes a request."""
    ordered = sorted(tools, key=lambda tool: tool.name)
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=t.name, description=t.description, parameters_json_schema=t.parameters, strict=False)
            for t in ordered
        ]
    )


def to_library(prompt: Prompt, *, name: str) -> list[ModelMessage]:
    """The conversation for the model `name`; parts that only another model understands are left out."""
    result: list[ModelMessage] = []
    pending: list[ModelRequestPart] = [SystemPromptPart(prompt.system)] if prompt.system.strip() else []
    asked: tuple[ToolCall, ...] = ()
    for message in prompt.messages:
        if not isinstance(message, AssistantMessage):
            pending.extend(_parts(message, asked))
            continue
        answer = _response(message, name)
        if answer is None:
            continue
        result.append(ModelRequest(parts=_in_order(pending, asked)))
        result.append(answer)
        pending, asked = [], message.calls
    pending.extend(_shown(prompt.pictures))
    result.append(ModelRequest(parts=_in_order(pending, asked)))
    return result


def _shown(pictures: Iterable[Picture]) -> Iterator[ModelRequestPart]:
    for picture in pictures:
        yield UserPromptPart([f"{picture.path}:", BinaryContent(picture.data, media_type=picture.media_type)])


def _parts(
    message: UserMessage | ContextMessage | ToolResult, asked: tuple[ToolCall, ...]
) -> Iterator[ModelRequestPart]:
    if not isinstance(message, ToolResult):
        yield UserPromptPart(message.text if message.text.strip() else NO_TEXT)
    elif any(call.id == message.call_id for call in asked):
        yield ToolReturnPart(
            tool_name=message.name,
            content=message.text if message.text.strip() else NO_TEXT,
            tool_call_id=_safe_id(message.call_id),
            outcome="failed" if message.failed else "success",
        )
    else:
        # Its call is no longer in the conversation, and providers refuse a result without one.
        yield UserPromptPart(f"Result of {message.name}:\n{message.text}")


def _in_order(parts: list[ModelRequestPart], asked: tuple[ToolCall, ...]) -> list[ModelRequestPart]:
    """Results first, one for each call, as every provider demands; then whatever else was said."""
    results = [part for part in parts if isinstance(part, ToolReturnPart)]
    answered = {part.tool_call_id for part in results}
    missing = [
        ToolReturnPart(tool_name=call.name, content=NOT_RUN, tool_call_id=_safe_id(call.id), outcome="failed")
        for call in asked
        if _safe_id(call.id) not in answered
    ]
    return [*results, *missing, *(part for part in parts if not isinstance(part, ToolReturnPart))]


def _response(message: AssistantMessage, name: str) -> ModelResponse | None:
    if message.model == name:
        kept = opaque.restore(message, _safe_id)
        if kept is not None:
            return kept
    parts: list[TextPart | ToolCallPart] = [TextPart(message.text)] if message.text.strip() else []
    parts += [ToolCallPart(tool_name=c.name, args=c.arguments, tool_call_id=_safe_id(c.id)) for c in message.calls]
    return ModelResponse(parts=parts) if parts else None


def _safe_id(call_id: str) -> str:
    if _ID.fullmatch(call_id):
        return call_id
    return "call_" + hashlib.sha256(call_id.encode()).hexdigest()[:24]


def _first_words(messages: tuple[Message, ...]) -> str:
    """The first thing that was said, which names a conversation for as long as it lasts."""
    return next((m.text for m in messages if isinstance(m, UserMessage)), "")


def cache_key(prompt: Prompt) -> str:
    """The same for every request of one conversation."""
    seed = f"{prompt.system}\0{_first_words(prompt.messages)}"
    return "forge-" + hashlib.sha256(seed.encode()).hexdigest()[:32]
