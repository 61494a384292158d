"""Which words of a person answer which question."""

from __future__ import annotations

import pytest

from forge.pipeline.answers import answered

OPEN = [{"unknown": name, "question": f"{name}?"} for name in ("cost", "place", "time")]


@pytest.mark.req("P-05")
@pytest.mark.parametrize("text", ["2.5 million euro", "1:30 pm on Friday", "3-4 weeks", "2 - 3 people", "10.5"])
def test_a_number_at_the_beginning_is_no_number_of_a_question(text: str) -> None:
    assert answered(text, OPEN) == [{"question": "cost?", "unknown": "cost", "answer": text}]


@pytest.mark.req("P-05")
def test_numbered_lines_answer_by_number_and_go_on_over_lines() -> None:
    given = answered("As for the rest:\n2: in the park\nby the river\n3) at noon", OPEN)
    assert [(a["unknown"], a["answer"]) for a in given] == [
        ("", "As for the rest:"),
        ("place", "in the park by the river"),
        ("time", "at noon"),
    ]


def test_all_of_them_can_be_left_to_forge_and_a_remark_needs_no_question() -> None:
    assert [a["answer"] for a in answered("all: you decide", OPEN)] == ["you decide"] * 3
    assert answered("It should be fun.", ()) == [{"question": "", "unknown": "", "answer": "It should be fun."}]
    assert [a["unknown"] for a in answered("7: seven", OPEN)] == ["cost"], "there is no seventh question"
