"""A person's reply to open questions: which words answer which question, and which are left to Forge."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forge.errors import InvalidInput

if TYPE_CHECKING:
    from forge.json_value import Json


@dataclass(frozen=True, slots=True)
class Given:
    """An answer to the question with this number; `delegated` leaves it to whoever answers for the project."""

    question: int
    text: str = ""
    delegated: bool = False


class AnswerRefused(InvalidInput):
    """It answers nothing that is asked."""

    code = "answer_refused"


# A mark with a digit after it belongs to a number or a time, such as 2.5 or 1:30; a dash makes a range.
_NUMBERED = re.compile(r"^\s*(\d{1,2})[.):=](?!\d)\s*(\S.*)$")
ALL = "all"


def answered(text: str, open_: Sequence[Mapping[str, Any]]) -> list[Json]:
    """`1: …` lines answer by number; anything else answers the first open question, or all with `all: …`.

    What comes without an open question is a remark, which the next draft takes into account.
    """
    if not open_:
        return [{"question": "", "unknown": "", "answer": text.strip()}]
    if text.lower().startswith(f"{ALL}:"):
        return [_answer(item, text.partition(":")[2]) for item in open_]
    found: dict[int, list[str]] = {}
    before: list[str] = []
    current: int | None = None
    for line in text.splitlines():
        numbered = _NUMBERED.match(line)
        if numbered and 1 <= int(numbered[1]) <= len(open_):
            current = int(numbered[1])
            found[current] = [numbered[2]]
        elif current is not None and line.strip():
            found[current].append(line.strip())
        elif line.strip():
            before.append(line.strip())
    if not found:
        return [_answer(open_[0], text)]
    remark = [{"question": "", "unknown": "", "answer": " ".join(before)}] if before else []
    return [*remark, *(_answer(open_[number - 1], " ".join(lines)) for number, lines in found.items())]


def structured(given: Sequence[Given], open_: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Each answer with its question. None is dropped or guessed: what fits no open question is refused."""
    checked(given, len(open_))
    return [
        {**_answer(open_[one.question - 1], one.text), **({"delegated": True} if one.delegated else {})}
        for one in given
    ]


def checked(given: Sequence[Given], count: int) -> None:
    for one in given:
        if not 1 <= one.question <= count:
            there = "No question is open." if count == 0 else f"Open are the questions 1 to {count}."
            raise AnswerRefused(f"There is no open question {one.question}.", hint=f"{there} Nothing was sent.")
        if one.delegated is bool(one.text.strip()):
            raise AnswerRefused(
                f"Question {one.question} needs either an answer or `delegated`.", hint="Give one of the two."
            )
    if len({one.question for one in given}) < len(given):
        raise AnswerRefused("A question is answered twice.", hint="Answer each once. Nothing was sent.")


def in_words(text: str, given: Sequence[Given], open_: Sequence[Mapping[str, Any]] = ()) -> str:
    """As the chat shows what a person answered: each answer with its question, which stands nowhere else there."""
    asked = {number: item["question"] for number, item in enumerate(open_, 1)}
    lines = (
        f"{asked.get(one.question, one.question)} → {'left to Forge' if one.delegated else one.text.strip()}"
        for one in given
    )
    return "\n".join(filter(None, [text.strip(), *lines]))


def _answer(item: Mapping[str, Any], text: str) -> Json:
    return {"question": item["question"], "unknown": item["unknown"], "answer": text.strip()}
