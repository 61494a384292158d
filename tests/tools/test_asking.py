"""`ask_user`: what the model hands over becomes an inquiry; the toolbox gives it on instead of a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forge.tools.registry import builtin_tools
from forge.tools.tool import Inquiry
from tests.tools.conftest import Bench

NewBench = Callable[..., Bench]

pytestmark = pytest.mark.req("G-11")


def test_a_question_is_handed_on_with_its_choices_and_has_no_text_yet(bench: NewBench) -> None:
    done = bench().run("ask_user", question=" Which colour? ", choices=["red", " blue ", "red", "  "])
    assert done.asks == Inquiry("Which colour?", ("red", "blue"))
    assert (done.text, done.failed) == ("", False)


def test_a_question_needs_no_choices(bench: NewBench) -> None:
    assert bench().run("ask_user", question="What is it called?").asks == Inquiry("What is it called?")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"question": "  "}, "`question` is empty"),
        ({}, "question"),
        ({"question": "x" * 2001}, "question"),
        ({"question": "Which?", "choices": [str(n) for n in range(7)]}, "choices"),
        ({"question": "Which?", "choices": ["x" * 201]}, "choices"),
        ({"question": "Which?", "why": "because"}, "why"),
    ],
)
def test_a_wrong_question_is_not_asked_and_says_what_is_wrong(
    bench: NewBench, arguments: dict[str, Any], told: str
) -> None:
    done = bench().run("ask_user", **arguments)
    assert done.failed
    assert done.asks is None
    assert told in done.text


def test_who_has_nobody_to_ask_is_not_offered_it() -> None:
    assert [tool.get_schema()["name"] for tool in builtin_tools(None, asks=True)][-2:] == ["ask_user", "need_decision"]
    assert "ask_user" not in [tool.get_schema()["name"] for tool in builtin_tools(None)]
