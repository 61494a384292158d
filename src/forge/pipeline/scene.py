"""Telling team context from a problem: a model does it where there is one; else the person is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from forge.agents.answer_object import parse_object

PROMPT = "team-context"
QUESTION = "Is this background about your team, or the problem itself?"
"""In `project.json`: the message that the person is asked about, and those that are background and no brain dump."""
About = Literal["background", "problem"]
_ANSWERS: dict[str, About] = {
    "background": "background",
    "it is background": "background",
    "it's background": "background",
    "problem": "problem",
    "the problem": "problem",
    "the problem itself": "problem",
    "it is the problem": "problem",
    "it's the problem": "problem",
}


class Recognised(BaseModel):
    """What a model makes of the first message."""

    kind: Literal["background", "problem", "both"]
    context: str = Field(default="", max_length=40_000)


def parse_recognised(raw: str) -> Recognised:
    return parse_object(raw, Recognised)


def answer_to_question(text: str) -> About | None:
    """What a message says that does nothing but answer the question; None for one that says more."""
    return _ANSWERS.get(" ".join(text.casefold().replace("’", "'").strip(" .!\n\t\"'").split()))
