"""Numbers with their noun: "1 question", "2 questions", "1,000 files"."""

from __future__ import annotations


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
