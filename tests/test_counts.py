"""Numbers stand with the right noun, and messages do not spell it themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import forge
from forge.counts import counted

# A number in braces and a plural after it, as in `{len(files)} files`: with one file that is wrong.
_SPELT = re.compile(r"\{(?:len\([^{}]*\)|[\w.\[\]']*(?:requests|count|rounds))(?::,)?\} (?P<noun>[a-z]+s)\b")
# What is never one (sizes in characters and bytes), or where the number is a part of another one.
_NEVER_ONE = {"bytes", "characters", "has", "is", "was", "parents", "answers", "shows", "findings", "files"}


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 requests"), (1, "1 request"), (2, "2 requests"), (1000, "1,000 requests")]
)
def test_one_is_told_as_one(number: int, told: str) -> None:
    assert counted(number, "request") == told


def test_another_plural_can_be_given() -> None:
    assert [counted(n, "question is", "questions are") for n in (1, 2)] == ["1 question is", "2 questions are"]


def test_no_message_spells_a_plural_after_a_number_that_may_be_one() -> None:
    sources = Path(forge.__file__).parent.rglob("*.py")
    found = [
        f"{file.name}: {match[0]}"
        for file in sources
        for match in _SPELT.finditer(file.read_text("utf-8"))
        if match["noun"] not in _NEVER_ONE
    ]
    assert found == []
