"""Parts that only a provider understands: put together again exactly, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
)

from forge.agents.models import opaque
from forge.agents.models.provider_request import Text
from forge.agents.models.sealed import without_secrets
from forge.sessions.messages import AssistantMessage, ToolCall, from_json, to_json

PARTS = [
    ThinkingPart("first", signature="s1", provider_name="anthropic"),
    TextPart("One."),
    ThinkingPart("", signature="s2", provider_name="anthropic"),
    TextPart("Two."),
    ToolCallPart("read_file", {"path": "a"}, tool_call_id="t1", provider_details={"thought_signature": "x"}),
]


def heard(parts: list[ThinkingPart | TextPart | ToolCallPart]) -> Text:
    text = Text(lambda _: None)
    for index, part in enumerate(parts):
        if isinstance(part, TextPart):
            text.hear(PartStartEvent(index=index, part=TextPart(part.content[:1])))
            text.hear(PartDeltaEvent(index=index, delta=TextPartDelta(part.content[1:])))
        else:
            text.hear(PartStartEvent(index=index, part=part))
    return text


def kept() -> AssistantMessage:
    response = ModelResponse(parts=PARTS, provider_name="anthropic", model_name="m")
    text = heard(PARTS)
    spans = text.spans(response)
    assert spans is not None
    calls = (ToolCall("t1", "read_file", {"path": "a"}),)
    return AssistantMessage(text.value, calls, "anthropic:m", opaque=opaque.keep(response, spans, len(text.value)))


def test_texts_with_something_between_them_are_kept_apart() -> None:
    assert kept().text == "One.\n\nTwo."


def test_an_answer_is_put_together_again_part_by_part_after_storage() -> None:
    stored = from_json(json.loads(json.dumps(to_json(kept()))))
    assert isinstance(stored, AssistantMessage)
    restored = opaque.restore(stored, lambda call_id: call_id)
    assert restored is not None
    assert list(restored.parts) == PARTS
    assert (restored.provider_name, restored.model_name) == ("anthropic", "m")


def test_nothing_is_stored_twice() -> None:
    assert "One." not in json.dumps(kept().opaque)


@pytest.mark.parametrize("part", [1, 3])
def test_an_altered_signature_voids_it(part: int) -> None:
    message = kept()
    entries = [json.loads(json.dumps(entry)) for entry in message.opaque]
    entries[part]["part"]["signature"] = "other"
    assert opaque.restore(replace(message, opaque=tuple(entries)), str) is None


def test_a_changed_text_is_sent_as_it_is_now_with_the_thinking_around_it() -> None:
    restored = opaque.restore(replace(kept(), text="[redacted]!"), str)
    assert restored is not None
    assert [part.content for part in restored.parts if isinstance(part, TextPart)] == ["[redacted]!"]
    assert [part.signature for part in restored.parts if isinstance(part, ThinkingPart)] == ["s1", "s2"]


def test_thinking_about_a_secret_is_left_out_and_the_rest_still_fits() -> None:
    message = kept()
    assert without_secrets(message.opaque, lambda text: text) == message.opaque
    cleaned = replace(message, opaque=without_secrets(message.opaque, lambda text: text.replace("first", "[redacted]")))
    assert "first" not in json.dumps(cleaned.opaque)
    restored = opaque.restore(cleaned, str)
    assert restored is not None
    assert list(restored.parts) == PARTS[1:]


def test_plain_text_and_calls_need_nothing_of_it() -> None:
    response = ModelResponse(parts=[TextPart("Hi."), ToolCallPart("f", {}, tool_call_id="t")], provider_name="x")
    assert opaque.keep(response, [(0, 3)], 3) == ()
