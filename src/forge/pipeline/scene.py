"""Telling team context from a problem: the first words of a new project may be either."""

from __future__ import annotations

import re

_PEOPLE = re.compile(
    r"\b(team|stakeholders?|company|department|colleagues?|report(?:s|ing)? to|head of|manager|owner|we are|"
    r"our (?:systems?|customers?|group|unit)|responsible for|works? (?:on|with|in|for))\b",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"\b(want|wants|need|needs|build|create|make|write|plan|problem|issue|should|must|would like|goal is to|deliver|"
    r"organi[sz]e|migrate|replace|design|script|app|tool|event|wedding)\b",
    re.IGNORECASE,
)
_ENOUGH = 2


def sets_the_scene(text: str) -> bool:
    """Whether a message tells about people and surroundings and asks for nothing."""
    return len(set(map(str.lower, _PEOPLE.findall(text)))) >= _ENOUGH and not _WANTED.search(text)
