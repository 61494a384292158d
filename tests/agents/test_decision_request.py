"""What counts as a request for a decision, and what does not."""

from __future__ import annotations

import pytest

from forge.agents.decision_request import DecisionRequest, decision_of, is_requested
from forge.sessions.messages import AssistantMessage, ToolCall, ToolResult
from forge.sessions.turns import Item

pytestmark = pytest.mark.req("P-07", "G-11")


def called(*, failed: bool, name: str = "need_decision") -> list[Item]:
    arguments = {"question": " Red or blue? ", "options": ["red", " blue ", "red", " "]}
    return [
        AssistantMessage("I tried both.", (ToolCall("1", name, arguments),)),
        ToolResult("1", name, "", failed),
    ]


def test_a_call_that_was_accepted_is_a_request_with_its_options() -> None:
    assert is_requested(called(failed=False))
    found = decision_of(called(failed=False), "I tried both.")
    assert found == DecisionRequest("Red or blue?", ("red", "blue"), "I tried both.")
    assert found is not None
    assert DecisionRequest.from_json({"question": "Red?", "options": ["a"], "explanation": "b"}).options == ("a",)


@pytest.mark.parametrize("items", [called(failed=True), called(failed=False, name="ask_user"), []])
def test_a_refused_call_and_other_tools_are_none(items: list[Item]) -> None:
    assert not is_requested(items)
    assert decision_of(items, "Done.") is None


@pytest.mark.parametrize(
    ("words", "question", "options"),
    [
        ("Stuck: Red or blue?", "Red or blue?", ()),
        ("I looked.\n\nStuck: Red or blue? [red | blue]\n\n", "Red or blue?", ("red", "blue")),
        ("**Stuck:** Red or blue? [`red` | `blue`]", "Red or blue?", ("red", "blue")),
        ("> stuck: which [of | these]?", "which", ("of", "these")),
        ("- STUCK: a [single] bracket?", "a [single] bracket?", ()),
        ("**Stuck: Red or blue? [red | blue]**", "Red or blue?", ("red", "blue")),
    ],
)
def test_a_last_line_says_it_where_there_is_no_tool(words: str, question: str, options: tuple[str, ...]) -> None:
    found = decision_of([], words)
    assert found is not None
    assert (found.question, found.options) == (question, options)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Done.",
        "Stuck: Red or blue?\n\nThen I chose red.",
        "I was Stuck: no longer",
        "Stuck:",
        "Unstuck: all is well",
    ],
)
def test_other_words_are_none(words: str) -> None:
    assert decision_of([], words) is None
