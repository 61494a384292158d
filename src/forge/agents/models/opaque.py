"""What an answer held beyond text and calls (thinking, signatures, ids), kept so that it can be sent back unchanged.

The first entry tells how to put the rest together with the message's own text and calls, which are not stored twice.
A digest guards it: if anything in it was altered since, for instance by redaction, it is not sent at all, because
providers refuse a signature that does not fit.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import TypeAdapter
from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ToolCallPart

from forge.agents.models.sealed import digest
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, ToolCall

_PART: TypeAdapter[ModelResponsePart] = TypeAdapter(ModelResponsePart)
_OF_RESPONSE = ("provider_name", "provider_url", "canonical_system", "model_name")
_IN_MESSAGE = {"content", "args", "tool_call_id", "tool_name"}
_ORDINARY = {"part_kind", "provider_name", "tool_kind"}


def keep(response: ModelResponse, spans: list[tuple[int, int]], length: int) -> tuple[Json, ...]:
    """`spans` are the places of the text parts in the message's text. Empty where plain text and calls say it all."""
    entries: list[Json] = []
    texts = iter(spans)
    calls = 0
    for part in response.parts:
        dumped = _PART.dump_python(part, mode="json")
        own = {key: value for key, value in dumped.items() if key not in _IN_MESSAGE and value is not None}
        if isinstance(part, TextPart):
            entries.append({"text": list(next(texts)), "own": own})
        elif isinstance(part, ToolCallPart):
            entries.append({"call": calls, "own": own})
            calls += 1
        else:
            entries.append({"part": dumped})
    if _is_plain(entries):
        return ()
    about = {name: value for name in _OF_RESPONSE if (value := getattr(response, name, None)) is not None}
    return ({"response": about, "length": length, "digest": digest(entries)}, *entries)


def restore(message: AssistantMessage, safe_id: Callable[[str], str]) -> ModelResponse | None:
    if not message.opaque or "digest" not in message.opaque[0]:
        return None
    head, *entries = message.opaque
    if head["digest"] != digest(entries):
        return None
    if head["length"] != len(message.text):
        entries = _with_changed_text(entries, len(message.text))
    parts = [_PART.validate_python(_whole(entry, message.text, message.calls, safe_id)) for entry in entries]
    return ModelResponse(parts=parts, **head["response"])


def _whole(entry: Json, text: str, calls: tuple[ToolCall, ...], safe_id: Callable[[str], str]) -> Json:
    if "text" in entry:
        start, end = entry["text"]
        return {**entry["own"], "content": text[start:end]}
    if "call" in entry:
        call = calls[entry["call"]]
        return {
            **entry["own"],
            "tool_name": call.name,
            "args": call.arguments,
            "tool_call_id": safe_id(call.id),
        }
    whole: Json = entry["part"]
    return whole


def _with_changed_text(entries: list[Json], length: int) -> list[Json]:
    """Redaction may have shortened the text since; no longer knowing which part is whose, the first takes all of it."""
    first = next((place for place, entry in enumerate(entries) if "text" in entry), None)
    return [
        {**entry, "text": [0, length]} if place == first else entry
        for place, entry in enumerate(entries)
        if "text" not in entry or place == first
    ]


def _is_plain(entries: list[Json]) -> bool:
    kinds = ["text" if "text" in e else "call" if "call" in e else "part" for e in entries]
    ordinary = all(set(entry.get("own", {})) <= _ORDINARY for entry in entries)
    return ordinary and "part" not in kinds and kinds.count("text") <= 1 and "text" not in kinds[1:]
