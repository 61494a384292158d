"""Finds the lines of a text that match. Needs only the standard library: it also runs alone, as a helper process.

The law: a line matches when Python's `re` finds the pattern in its bytes, without the line's end. For speed the
whole text is searched at once, for a string that the line must contain or with a form of the pattern that cannot
step over a line's end; each line found so is then judged by the pattern itself.
"""

from __future__ import annotations

import marshal
import re
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import IO, Any

Hit = tuple[int, int, int, tuple[tuple[int, int], ...]]
"""Line number from 1, where the line starts and ends in the text, and the spans within the line."""

MAX_SPANS = 100
"""Spans kept of one line; a line that matches more often is shown as well by its first hundred."""

# Python keeps its parser and compiler of patterns in modules without a public name.
sre: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

_NEWLINE = 10
_SPACES = [(sre.LITERAL, byte) for byte in b"\t\v\f\r "]
_NOTHING = [(sre.NEGATE, None), (sre.RANGE, (0, 255))]
# Before Python 3.14 `\B` did not match in an empty text, so it must not in an empty line either.
_MATCHES_IN_NOTHING = re.search(rb"\B", b"") is not None
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


class Finder:
    """One pattern, ready to be looked for in many texts."""

    def __init__(self, source: bytes, flags: int, scout: bytes = b"", folded: bool = False) -> None:  # noqa: FBT001, FBT002
        """`scout` is a string that every matching line contains, in lower case when `folded`."""
        self._pattern = re.compile(source, flags)
        self._scout = scout
        self._folded = folded
        tree = sre.parse(source, flags)
        self.is_fixed = _is_fixed(tree)
        self._string = _only_string(tree)
        _confine(tree)
        self._within_lines: re.Pattern[bytes] = _compiler.compile(tree, flags | re.MULTILINE)

    def hits(self, text: bytes, limit: int) -> list[Hit]:
        """The first `limit` lines of `text` that match. Lines end with a line feed only."""
        find = self._grouped if self.is_fixed else self._judged
        return find(text, limit)

    def _judged(self, text: bytes, limit: int) -> list[Hit]:
        found: list[Hit] = []
        number, counted = 1, 0
        position, size = 0, len(text)
        scouted = text.lower() if self._folded else text
        while position < size:
            if self._scout:
                at = scouted.find(self._scout, position)
            else:
                match = self._within_lines.search(text, position)
                at = match.start() if match else -1
            if at < 0:
                break
            start = text.rfind(b"\n", 0, at) + 1
            if start == size:
                break
            end = text.find(b"\n", at)
            if end < 0:
                end = size
            position = end + 1
            spans = self._spans(text[start:end])
            if spans:
                number += text.count(b"\n", counted, start)
                counted = start
                found.append((number, start, end, spans))
                if len(found) == limit:
                    break
        return found

    def _spans(self, line: bytes) -> tuple[tuple[int, int], ...]:
        spans = [match.span() for match in islice(self._pattern.finditer(line), MAX_SPANS)]
        # A pattern such as `x*` also matches nothing everywhere; show that only where it matches nothing else.
        return tuple([span for span in spans if span[0] < span[1]] or spans[:1])

    def _grouped(self, text: bytes, limit: int) -> list[Hit]:
        """As `_judged` for fixed strings, with which there is nothing left to judge."""
        found: list[Hit] = []
        number, start, end = 1, 0, -1
        spans: tuple[tuple[int, int], ...] = ()
        for left, right in self._places(text):
            if left <= end:
                if len(spans) < MAX_SPANS:
                    spans += ((left - start, right - start),)
                continue
            if spans:
                found.append((number, start, end, spans))
                if len(found) == limit:
                    return found
            number += text.count(b"\n", start, left)
            start = text.rfind(b"\n", 0, left) + 1
            end = text.find(b"\n", right)
            if end < 0:
                end = len(text)
            spans = ((left - start, right - start),)
        if spans:
            found.append((number, start, end, spans))
        return found

    def _places(self, text: bytes) -> Iterator[tuple[int, int]]:
        if not self._string:
            yield from map(re.Match.span, self._within_lines.finditer(text))
            return
        # Several times as quick as the same with `re`.
        string, size = self._string, len(self._string)
        at = text.find(string)
        while at >= 0:
            yield at, at + size
            at = text.find(string, at + size)


def _only_string(tree: Any) -> bytes:
    """The string that is all the pattern matches; empty when it matches others, too."""
    if tree.state.flags & re.IGNORECASE or any(op is not sre.LITERAL for op, _ in tree.data):
        return b""
    return bytes([argument for _, argument in tree.data])


def _is_fixed(tree: Any) -> bool:
    """Whether the pattern is a choice of fixed strings, so that nothing around a match has a say in it."""
    for op, argument in tree.data:
        if op is sre.IN:
            if any(each[0] is not sre.LITERAL or each[1] == _NEWLINE for each in argument):
                return False
        elif op in (sre.SUBPATTERN, sre.BRANCH):
            if not all(map(_is_fixed, parts(op, argument))):
                return False
        elif op is not sre.LITERAL or argument == _NEWLINE:
            return False
    return bool(tree.getwidth()[0])


def _confine(tree: Any) -> None:
    for place, (op, argument) in enumerate(tree.data):
        tree.data[place] = _confined(tree.state, op, argument)


def _confined(state: Any, op: Any, argument: Any) -> tuple[Any, Any]:
    if op is sre.ANY:
        return sre.NOT_LITERAL, _NEWLINE
    if (op, argument) == (sre.LITERAL, _NEWLINE):
        return sre.IN, _NOTHING
    if op is sre.NOT_LITERAL:
        return sre.IN, [(sre.NEGATE, None), (sre.LITERAL, argument), (sre.LITERAL, _NEWLINE)]
    if op is sre.IN:
        return op, _confined_class(argument)
    if op is sre.AT and argument is sre.AT_NON_BOUNDARY and not _MATCHES_IN_NOTHING:
        is_empty = sre.SubPattern(state, [(sre.AT, sre.AT_BEGINNING), (sre.AT, sre.AT_END)])
        return sre.SUBPATTERN, (None, 0, 0, sre.SubPattern(state, [(sre.ASSERT_NOT, (1, is_empty)), (op, argument)]))
    if op is sre.AT:
        return op, {sre.AT_BEGINNING_STRING: sre.AT_BEGINNING, sre.AT_END_STRING: sre.AT_END}.get(argument, argument)
    if op is sre.SUBPATTERN:
        group, added, dropped, below = argument
        _confine(below)
        return op, (group, added & ~re.MULTILINE, dropped & ~re.MULTILINE, below)
    for below in parts(op, argument):
        _confine(below)
    return op, argument


def parts(op: Any, argument: Any) -> list[Any]:
    """The patterns that a step of a pattern is made of."""
    if op is sre.BRANCH:
        return list(argument[1])
    if op is sre.SUBPATTERN:
        return [argument[3]]
    if op in _REPEATS:
        return [argument[2]]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [argument[1]]
    if op is sre.ATOMIC_GROUP:
        return [argument]
    if op is sre.GROUPREF_EXISTS:
        return [below for below in argument[1:] if below is not None]
    return []


def _confined_class(members: list[Any]) -> list[Any]:
    if members[0][0] is sre.NEGATE:
        return [*members, (sre.LITERAL, _NEWLINE)]
    kept: list[Any] = []
    for op, argument in members:
        if op is sre.CATEGORY and argument is sre.CATEGORY_SPACE:
            kept += _SPACES
        elif op is sre.CATEGORY and argument in (sre.CATEGORY_NOT_WORD, sre.CATEGORY_NOT_DIGIT):
            wanted = re.compile(rb"[^\w\n]" if argument is sre.CATEGORY_NOT_WORD else rb"[^\d\n]")
            kept += [(sre.LITERAL, byte) for byte in range(256) if wanted.match(bytes([byte]))]
        elif op is sre.RANGE and argument[0] <= _NEWLINE <= argument[1]:
            low, high = argument
            kept += [(sre.RANGE, ends) for ends in ((low, 9), (11, high)) if ends[0] <= ends[1]]
        elif (op, argument) != (sre.LITERAL, _NEWLINE):
            kept.append((op, argument))
    return kept or _NOTHING


def send(stream: IO[bytes], message: Any) -> None:
    raw = marshal.dumps(message)
    stream.write(len(raw).to_bytes(8, "big") + raw)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message, or None at the end of the stream."""
    head = stream.read(8)
    raw = stream.read(int.from_bytes(head, "big")) if len(head) == 8 else b""
    return marshal.loads(raw) if raw else None  # noqa: S302 - both ends are this very file


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer lists of texts with lists of hits until there are no more, or time is up."""
    *pattern, limit, seconds = receive(requests)
    # The kernel ends this process then, even inside a match that would take years.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    finder = Finder(*pattern)
    while (texts := receive(requests)) is not None:
        send(replies, [finder.hits(text, limit) for text in texts])


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
