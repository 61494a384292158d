"""Kinds of questions to people, and the answers that each kind accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forge.errors import InvalidInput

INPUT = "input"
"""The option of a decision that stands for the person's own words."""
_LONGEST = 100_000


class QuestionKind(StrEnum):
    TEXT = "text"
    """Any words; the options are suggestions."""
    CHOICE = "choice"
    """One of the options, and nothing else."""
    DECISION = "decision"
    """How a project continues: one of the options, which words may go with; words alone are `input`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`choice` is the option that was chosen; None where the words themselves are the answer."""

    choice: str | None
    text: str


def accepted(kind: QuestionKind, options: Sequence[str], text: str, choice: str | None = None) -> Answer:
    """The answer as the question takes it; `InvalidInput` with the allowed answers where it does not."""
    if not (text.strip() or choice) or len(text) > _LONGEST:
        raise InvalidInput("The answer is empty or too long.", hint=f"Write 1 to {_LONGEST:,} characters.")
    words = text.strip()
    match kind:
        case QuestionKind.TEXT:
            return Answer(None, choice or text)
        case QuestionKind.CHOICE:
            chosen = choice or words
        case QuestionKind.DECISION:
            chosen = choice or (words if words in options else INPUT)
    if chosen not in options:
        raise InvalidInput(
            f"{choice or words!r} is not among the answers.", hint=f"Choose one of: {', '.join(options)}."
        )
    return Answer(chosen, "" if choice is None and chosen == words else text)
