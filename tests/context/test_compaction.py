"""Compaction: what may go, what must stay, and that a provider still takes the result."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.context import tokens
from forge.context.compaction import compacted, completed, due, taken_by
from forge.context.digest import digest, worded
from forge.sessions.messages import AssistantMessage, ContextMessage, Message, ToolCall, ToolResult, UserMessage


def turn(number: int, *, result: str = "x" * 4000, ask: str = "") -> list[Message]:
    return [
        UserMessage(ask or f"question {number}"),
        AssistantMessage(f"looking {number}", (ToolCall("c1", "read_file", {"path": f"f{number}.py"}),)),
        ToolResult("c1", "read_file", result),
        AssistantMessage(
            "", (ToolCall("c1", "search_replace", {"path": f"g{number}.py"}), ToolCall("c2", "run_tests", {}))
        ),
        ToolResult("c1", "search_replace", "`search` was not found", failed=number % 2 == 1),
        ToolResult("c2", "run_tests", f"Tests FAILED (`pytest`, exit code {number % 2})."),
        AssistantMessage(f"answer {number}"),
    ]


def conversation(turns: int, **options: str) -> list[Message]:
    return [message for number in range(turns) for message in turn(number, **options)]


def words(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserMessage)]


def valid(messages: Sequence[Message]) -> bool:
    """Every call is followed by its result before anything else, and there is no result without a call."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            if not waiting or waiting.pop(0) != message.call_id:
                return False
        elif waiting:
            return False
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.calls]
    return not waiting


def test_what_fits_stays_as_it_is() -> None:
    said = conversation(3)
    found = compacted(said, limit=100_000)
    assert list(found.messages) == said
    assert not found.changed


@pytest.mark.req("C-08")
def test_old_tool_results_are_shortened_first() -> None:
    said = conversation(10)
    found = compacted(said, limit=taken_by(said) - 3_000)
    assert len(found.messages) == len(said)
    assert [type(message) for message in found.messages] == [type(message) for message in said]
    assert "characters left out" in found.messages[2].text
    assert list(found.messages[-21:]) == said[-21:]


@pytest.mark.req("C-08")
def test_then_the_oldest_turns_become_digests_and_the_last_ones_stay_whole() -> None:
    said = conversation(12)
    found = compacted(said, limit=5_000, keep=3)
    assert found.after <= 5_000
    assert words(found.messages) == [f"question {number}" for number in range(12)]
    assert list(found.messages[-21:]) == said[-21:]
    note = found.messages[0].text
    assert "Files that were read can be read again: f0.py, f1.py" in note
    done = next(message.text for message in found.messages if message.text.startswith("[Shortened]"))
    assert "Changed: g0.py." in done
    assert "Ran: `run_tests` (exit 0)." in done
    assert "Answered: answer 0" in done
    assert "Failed: search_replace: `search` was not found." in "\n".join(message.text for message in found.messages)


@pytest.mark.req("C-08")
def test_the_first_message_and_every_word_of_the_person_stay() -> None:
    long = "Please build this: " + "detail " * 200
    said = [*turn(0, ask=long), *(message for number in range(1, 40) for message in turn(number))]
    found = compacted(said, limit=9_000)
    assert words(found.messages) == words(said)
    assert found.after <= 9_000


def test_long_messages_of_the_person_are_shortened_only_as_the_last_resort_and_that_is_said() -> None:
    said = [*turn(0, ask="first " * 4_000), *turn(1, ask="second " * 4_000), *turn(2)]
    assert words(compacted(said, limit=16_000).messages) == words(said)
    found = compacted(said, limit=3_000)
    assert found.after <= 3_000
    assert "characters of this message left out to fit the window" in words(found.messages)[0]
    assert words(found.messages)[0].startswith("first first")
    assert words(found.messages)[2] == "question 2"


def test_one_endless_turn_is_shortened_from_its_beginning() -> None:
    said: list[Message] = [UserMessage("do it all")]
    for number in range(200):
        said += [
            AssistantMessage("", (ToolCall(f"c{number}", "read_file", {"path": f"f{number}.py"}),)),
            ToolResult(f"c{number}", "read_file", f"text {number} " * 200),
        ]
    found = compacted(said, limit=8_000)
    assert found.after <= 8_000
    assert valid(found.messages)
    assert list(found.messages[-2:]) == said[-2:]
    assert words(found.messages) == ["do it all"]


def test_calls_that_were_cut_off_get_a_result_and_stray_results_go() -> None:
    said = [
        UserMessage("a"),
        ToolResult("zz", "x", "stray"),
        AssistantMessage("", (ToolCall("1", "read_file", {}), ToolCall("2", "read_file", {}))),
        ToolResult("2", "read_file", "second"),
        ContextMessage("note"),
        UserMessage("b"),
        AssistantMessage("", (ToolCall("1", "read_file", {}),)),
        ToolResult("1", "read_file", "again"),
    ]
    whole = completed(said)
    assert valid(whole)
    assert [message.text for message in whole if isinstance(message, ToolResult)] == [
        "This call was not carried out: the turn ended before it.",
        "second",
        "again",
    ]


def test_compaction_is_due_at_a_share_of_the_window() -> None:
    assert not due(160_000, 200_000)
    assert due(160_001, 200_000)
    assert due(60, 100, share=0.5)


def test_a_digest_of_nothing_is_empty() -> None:
    assert worded(digest([]), answer_tokens=10) == ""


CALLS = st.lists(
    st.builds(
        ToolCall,
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from(["read_file", "write_file", "run_command", "strange"]),
        st.fixed_dictionaries({}, optional={"path": st.sampled_from(["a", "b"]), "content": st.text(max_size=300)}),
    ),
    max_size=3,
    unique_by=lambda call: call.id,
).map(tuple)
TEXT = st.text(max_size=60) | st.builds(
    lambda word, times: word * times, st.sampled_from(["word ", "é"]), st.integers(1, 900)
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(UserMessage, TEXT),
        st.builds(AssistantMessage, TEXT, CALLS),
        st.builds(ToolResult, st.sampled_from(["c1", "c2", "c3"]), st.just("read_file"), TEXT, st.booleans()),
        st.builds(ContextMessage, TEXT),
    ),
    max_size=24,
)


@pytest.mark.req("C-08")
@settings(max_examples=150)
@given(MESSAGES, st.integers(100, 3_000), st.integers(1, 4))
def test_laws_of_compaction(said: list[Message], limit: int, keep: int) -> None:
    before = copy.deepcopy(said)
    found = compacted(said, limit=limit, keep=keep)
    assert said == before
    assert valid(found.messages)
    assert found.after == taken_by(found.messages) <= found.before
    assert compacted(said, limit=limit, keep=keep) == found
    kept = words(found.messages)
    assert len(kept) == len(words(said))
    if kept != words(said):  # the last resort: nothing else is left to shorten
        assert all(
            now == was or "left out to fit the window" in now for now, was in zip(kept, words(said), strict=True)
        )
        assert taken_by([message for message in said if isinstance(message, UserMessage)]) > limit // 4
    if found.before <= limit:
        assert found.messages == completed(said)


@given(st.text(max_size=400), st.integers(1, 60))
def test_shortened_text_keeps_beginning_and_end(text: str, most: int) -> None:
    short = tokens.shortened(text, most)
    assert (short == text) == (tokens.of_text(text) <= most) or "left out" in short
    assert short[:1] == text[:1] or "left out" in short


@pytest.mark.req("C-08")
def test_what_the_person_answered_is_kept() -> None:
    asked = ToolCall("c1", "ask_user", {"question": "Which colour?"})
    messages = [UserMessage("a sign"), AssistantMessage("", (asked,)), ToolResult("c1", "ask_user", "green, of course")]
    assert worded(digest(messages), answer_tokens=0) == (
        "Asked the person: Which colour? They answered: green, of course"
    )
