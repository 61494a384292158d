"""Answers that were written down: recordings and scripts."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from forge.agents.errors import ModelFailed, ModelOverloaded, ModelUnknown
from forge.agents.model import Prompt
from forge.agents.recorded import RecordedModel, recordings
from forge.agents.scripted import Say, ScriptedModel, call
from forge.sessions.messages import Message, UserMessage
from tests.agents.stand_ins import Listener

START = UserMessage("go")


def prompt(*messages: Message) -> Prompt:
    return Prompt("system", (), messages)


@pytest.mark.asyncio
@pytest.mark.req("X-03")
async def test_the_shipped_recording_plays_to_its_end_in_any_process() -> None:
    assert "greeting" in recordings()
    messages: list[Message] = [START]
    while True:
        listener = Listener()
        given = await RecordedModel.named("greeting").answer(prompt(*messages), on_text=listener)
        assert "".join(listener.pieces) == given.text
        messages.append(given)
        if not given.calls:
            break
    assert len(messages) == 5
    assert "recorded" in given.text
    assert given.text.splitlines()[-1].startswith("Commit: ")
    with pytest.raises(ModelFailed, match="all of them"):
        await RecordedModel.named("greeting").answer(prompt(*messages), on_text=lambda _: None)
    # The beginning of a conversation may be gone.
    with pytest.raises(ModelFailed):
        await RecordedModel.named("greeting").answer(prompt(START, messages[-1]), on_text=lambda _: None)


@pytest.mark.asyncio
async def test_a_recording_is_read_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"text": "a"}\n\n{"calls": [{"name": "list_files"}]}\n')
    model = RecordedModel.named(str(path))
    first = await model.answer(prompt(START), on_text=lambda _: None)
    second = await model.answer(prompt(START, first), on_text=lambda _: None)
    assert (first.text, second.calls[0].name, second.calls[0].arguments) == ("a", "list_files", {})
    assert model.name == f"recorded:{path}"


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 1}', '{"calls": [{}]}', '{"calls": 3}'])
def test_a_broken_recording_is_refused_by_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n' + line)
    with pytest.raises(ModelFailed, match="Line 2"):
        RecordedModel.named(str(path))


@pytest.mark.req("X-06")
def test_a_file_that_cannot_be_read_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff\xfe")
    for name in (str(tmp_path / "picture"), "/" + "b" * 300, "a\0b"):
        with pytest.raises(ModelUnknown):
            RecordedModel.named(name)


def test_a_recording_outside_the_shipped_ones_needs_a_file() -> None:
    with pytest.raises(ModelUnknown):
        RecordedModel.named("../recordings/greeting")


@pytest.mark.asyncio
async def test_a_script_answers_in_order_counts_and_raises() -> None:
    steps = [
        "hello  there",
        ModelOverloaded("later"),
        Say("look", (call("read_file", path="a"),), false_start="wrong"),
        lambda p: Say(f"{len(p.messages)} messages"),
    ]
    model = ScriptedModel(steps)
    listener = Listener()
    first = await model.answer(prompt(START), on_text=listener)
    assert ("".join(listener.pieces), first.text) == ("hello  there", "hello  there")
    with pytest.raises(ModelOverloaded):
        await model.answer(prompt(START), on_text=listener)
    listener = Listener()
    third = await model.answer(prompt(START, first), on_text=listener)
    assert (listener.restarts, "".join(listener.pieces)) == (1, "look")
    assert third.calls[0].arguments == {"path": "a"}
    assert (await model.answer(prompt(START, first), on_text=listener)).text == "2 messages"
    assert model.calls == 4
    with pytest.raises(ModelFailed, match="only 4"):
        await model.answer(prompt(), on_text=listener)


@pytest.mark.asyncio
async def test_a_script_can_be_slow_and_cancelled_and_found_again_by_the_conversation() -> None:
    model = ScriptedModel(["one", Say("slow " * 50, pause=0.05)], by_prompt=True)
    first = await model.answer(prompt(START), on_text=lambda _: None)
    begun = time.monotonic()
    slow = asyncio.ensure_future(model.answer(prompt(START, first), on_text=lambda _: None))
    await asyncio.sleep(0.1)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert time.monotonic() - begun < 2
    again = ScriptedModel(["one", "two"], by_prompt=True)
    assert (await again.answer(prompt(START, first), on_text=lambda _: None)).text == "two"
