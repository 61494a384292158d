"""The answer of a turn as a person gets it: at most three questions, those for stakeholders in their own section."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_QUESTIONS = 3
STAKEHOLDERS = "Questions for stakeholders"
_SECTION = re.compile(rf"^#+\s*{STAKEHOLDERS}\s*$", re.IGNORECASE | re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?…]*[.!?…]+[\"”’)*_]*\s*|[^.!?…]+$")
_QUESTION = re.compile(r"\?[\"”’)*_]*\s*$")
_QUOTED = re.compile(r"^\s*>")
_ITEM = re.compile(r"^\s*(?:[-*+]|[0-9]+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    questions: tuple[str, ...] = ()
    """Those to the person."""
    left_out: tuple[str, ...] = ()
    """Questions above the limit, for a later turn."""
    for_stakeholders: tuple[str, ...] = ()


def limited(text: str, most: int = MOST_QUESTIONS) -> Reply:
    """The text with its first questions; those above the limit are taken out of it."""
    found = _SECTION.search(text)
    body, section = (text[: found.start()], text[found.start() :]) if found else (text, "")
    asked: list[str] = []
    left: list[str] = []
    lines = [_line(line, asked, left, most) for line in body.splitlines()]
    kept = "\n".join(line for line in lines if line is not None).strip()
    theirs = tuple(_ITEM.sub("", line).strip() for line in section.splitlines() if _QUESTION.search(line))
    whole = "\n\n".join(part for part in (kept, section.strip()) if part)
    return Reply(whole, tuple(asked), tuple(left), theirs)


def _line(line: str, asked: list[str], left: list[str], most: int) -> str | None:
    if "?" not in line or _QUOTED.match(line):
        return line
    kept = ""
    for sentence in _SENTENCE.findall(line):
        if not _QUESTION.search(sentence):
            kept += sentence
        elif len(asked) < most:
            asked.append(_ITEM.sub("", sentence).strip(" *_"))
            kept += sentence
        else:
            left.append(_ITEM.sub("", sentence).strip(" *_"))
    return kept if re.search(r"\w", _ITEM.sub("", kept)) else None
