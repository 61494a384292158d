"""How long an expression can take. Python's `re` tries every way to match, and some expressions have endless ways.

An expression is tame when the text leaves it no choice: after each repetition comes something that the repetition
itself cannot take in, or there is only one repetition. Then a line costs at most its length squared. Everything else,
and every repetition on a very long line, belongs where it can be ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from forge.git.search.lines import parts, sre

LONGEST_LINE = 4096
"""Bytes of a line on which a tame expression is quick."""

_ALL = (1 << 256) - 1
_MOST_WAYS = 8
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_CATEGORIES = {
    sre.CATEGORY_DIGIT: rb"\d",
    sre.CATEGORY_NOT_DIGIT: rb"\D",
    sre.CATEGORY_SPACE: rb"\s",
    sre.CATEGORY_NOT_SPACE: rb"\S",
    sre.CATEGORY_WORD: rb"\w",
    sre.CATEGORY_NOT_WORD: rb"\W",
}
_LONG_LINE = re.compile(rb"[^\n]{%d}" % (LONGEST_LINE + 1))

Step = tuple[Any, Any]


def has_long_line(text: bytes) -> bool:
    return len(text) > LONGEST_LINE and _LONG_LINE.search(text) is not None


def repeats(tree: Any) -> bool:
    """Whether the expression repeats something as often as the text has it."""
    return any(
        (op in _REPEATS and argument[0] != argument[1])
        or op in (sre.GROUPREF, sre.GROUPREF_EXISTS)
        or any(map(repeats, parts(op, argument)))
        for op, argument in tree.data
    )


def is_tame(tree: Any) -> bool:
    """Whether the expression is quick on every line that is not very long."""
    choices = _Choices()
    choices.walk(tree.data, 0)
    alone = choices.repetitions == 1
    return not choices.endless and choices.ways <= _MOST_WAYS and (alone or not choices.open)


class _Choices:
    """What an expression leaves open, counted step by step."""

    def __init__(self) -> None:
        self.ways = 1
        self.repetitions = 0
        self.open = 0
        """Repetitions that could also continue where they end."""
        self.endless = False

    def walk(self, steps: Sequence[Step], follow: int) -> None:
        """Count in `steps`, after which comes one of the bytes in `follow`."""
        for place, (op, argument) in enumerate(steps):
            after = _first(steps[place + 1 :], follow)
            if op in (sre.POSSESSIVE_REPEAT, sre.ATOMIC_GROUP):
                # Some Pythons fail inside of these, which only a helper survives.
                self.endless = True
            elif op in _REPEATS:
                low, high, body = argument
                self._repetition(low, high, body, after)
            elif op is sre.BRANCH:
                firsts = [_first(branch.data, after) for branch in argument[1]]
                if sum(first.bit_count() for first in firsts) > _union(firsts).bit_count():
                    self.ways *= len(firsts)
                for branch in argument[1]:
                    self.walk(branch.data, after)
            elif op is sre.SUBPATTERN:
                self.walk(argument[3].data, after)
            elif op in (sre.ASSERT, sre.ASSERT_NOT):
                self.endless |= _varies(argument[1])
            elif op in (sre.GROUPREF, sre.GROUPREF_EXISTS):
                self.endless = True

    def _repetition(self, low: int, high: int, body: Any, after: int) -> None:
        goes_on = bool(_first(body.data, after) & after)
        if (low, high) == (0, 1):
            self.ways *= 2 if goes_on else 1
            self.walk(body.data, after)
        elif _varies(body):
            self.endless = True
        elif low != high:
            self.repetitions += 1
            self.open += goes_on


def _varies(tree: Any) -> bool:
    """Whether there is more than one way through, counting no further."""
    return any(
        op in (sre.BRANCH, sre.GROUPREF, sre.GROUPREF_EXISTS)
        or (op in _REPEATS and argument[0] != argument[1])
        or any(map(_varies, parts(op, argument)))
        for op, argument in tree.data
    )


def _first(steps: Sequence[Step], follow: int) -> int:
    """The bytes with which `steps` can begin, as bits; `follow` where they can be empty."""
    found = 0
    for op, argument in steps:
        if op in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return found | _bytes(op, argument)
        if op in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            continue
        if op not in (*_REPEATS, sre.BRANCH, sre.SUBPATTERN, sre.ATOMIC_GROUP):
            return _ALL
        below = parts(op, argument)
        found |= _union([_first(each.data, 0) for each in below])
        may_be_empty = op in _REPEATS and argument[0] == 0
        if not may_be_empty and all(each.getwidth()[0] for each in below):
            return found
    return found | follow


def _bytes(op: Any, argument: Any) -> int:
    if op is sre.LITERAL:
        return _both_cases(1 << argument)
    if op is not sre.IN:
        return _ALL
    found = 0
    for kind, member in argument:
        if kind is sre.LITERAL:
            found |= 1 << member
        elif kind is sre.RANGE:
            found |= (1 << member[1] + 1) - (1 << member[0])
        elif kind is sre.CATEGORY:
            found |= _of_category(member)
    return _both_cases(_ALL & ~found if argument[0][0] is sre.NEGATE else found)


@cache
def _of_category(category: Any) -> int:
    member = re.compile(_CATEGORIES[category])
    return _union([1 << byte for byte in range(256) if member.match(bytes([byte]))])


def _both_cases(mask: int) -> int:
    """Letters of either case, whether or not case counts: that only makes us more careful."""
    letters = 0x3FFFFFF
    upper, lower = mask >> 65 & letters, mask >> 97 & letters
    return mask | upper << 97 | lower << 65


def _union(masks: Sequence[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole
