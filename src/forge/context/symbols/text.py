"""Puts symbols into words: as many as fit, with members as long as every symbol keeps its place."""

from __future__ import annotations

from collections.abc import Sequence

from forge.context import tokens
from forge.context.symbols.outline import Symbol

_MEMBERS = (8, 4, 2, 0)


def worded(symbols: Sequence[Symbol], room: int) -> str:
    """`class A(b, c), def d, e` within `room` bytes; the fewer members, the more symbols."""
    text = ""
    for most in _MEMBERS:
        text = ", ".join(_items(symbols, most))
        if tokens.size(text) <= room:
            break
    return text


def _items(symbols: Sequence[Symbol], most: int) -> list[str]:
    items: list[str] = []
    word = ""
    for symbol in symbols:
        members = symbol.members[:most]
        more = ", …" if members and len(symbol.members) > most else ""
        inside = f"({', '.join(members)}{more})" if members else ""
        # The word of the one before continues counting: `def a, b, c`.
        items.append(f"{symbol.word if symbol.word != word else ''} {symbol.name}{inside}".strip())
        word = symbol.word
    return items
