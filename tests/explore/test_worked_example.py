"""The worked example of docs/explore.md is what Forge answers, word by word."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.explore import brief
from tests.support.explored import conversation, example

PAGE = Path(__file__).parents[2] / "docs" / "explore.md"


@pytest.mark.req("W-09", "W-06")
def test_the_page_shows_the_whole_conversation_and_its_brief() -> None:
    assert PAGE.read_text("utf-8").partition("## A worked example\n\n")[2] == example(), (
        "run `python -m tests.support.explored`"
    )


@pytest.mark.req("W-11")
def test_it_asks_at_most_15_questions_for_one_page() -> None:
    turns, values = conversation()
    assert values["routing_context"]["questions_asked"] <= 15
    assert 0 < brief.words(values["latest_artifact"]) <= brief.MOST_WORDS
    assert all(answer for _, answer in turns)
