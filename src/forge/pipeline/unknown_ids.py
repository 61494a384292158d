"""Unknowns of an intent by id: how a model is shown them, and which one an answer means.

A model that shortens or rewords an unknown still means the one whose id it gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forge.projects.errors import AnswerMalformed

if TYPE_CHECKING:
    from forge.json_value import Json

_ID = re.compile(r"\s*[\[(`*]*U(\d{1,3})[\])`*]*\s*(?:[:.)—–-]\s*(.*))?", re.IGNORECASE | re.DOTALL)


def listed(unknowns: Sequence[str]) -> list[Json]:
    return [{"id": f"U{number}", "text": text} for number, text in enumerate(unknowns, 1)]


def meant(id_: str, text: str, unknowns: Sequence[str], same: Callable[[str, str], bool]) -> str:
    """The unknown in the intent's own words, where an id names it; else the text as it was given.

    `same` tells whether two texts mean the same. An id beside the words of another unknown is refused: one of the two
    is wrong, and nobody can tell which.
    """
    in_text = _ID.fullmatch(text)
    number = _number(id_) or (int(in_text[1]) if in_text else 0)
    words = (in_text[2] or "").strip() if in_text else text
    if not 1 <= number <= len(unknowns):
        return words or text
    named = unknowns[number - 1]
    others = [other for other in unknowns if other != named and same(words, other)]
    if words and others and not same(words, named):
        raise AnswerMalformed(
            f"U{number} stands beside the words of another unknown: “{others[0]}”.",
            hint="Give each unknown with its own id.",
        )
    return named


def _number(id_: str) -> int:
    found = _ID.fullmatch(id_)
    return int(found[1]) if found else 0
