"""What a search finds, as people see it: lines with their numbers, what matched in them, and lines around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from forge.git.search.lines import Hit
    from forge.git.search.query import Query

LONGEST_TEXT = 500
"""Characters shown of one line."""
_LEAD = 100
CUT = "…"
"""Stands where a long line was cut."""


class Match(NamedTuple):
    """A line that matches. Bytes that are not UTF-8 are shown as U+FFFD; positions count characters of such text."""

    line: int
    """From 1."""
    column: int
    """Of the first hit in the whole line, from 1."""
    text: str
    """The line; of a long one the part around its first hit, with `CUT` where something is missing."""
    spans: tuple[tuple[int, int], ...]
    """Where the hits are in `text`."""
    before: tuple[str, ...]
    """Lines before this one, also when they match themselves."""
    after: tuple[str, ...]


class FileMatches(NamedTuple):
    path: str
    matches: tuple[Match, ...]
    truncated: bool
    """The file has more than `max_per_file`, or the search stopped within it."""


def shown(text: bytes, hits: Sequence[Hit], query: Query) -> tuple[Match, ...]:
    """`hits` as matches. Lines of `text` end with a line feed only."""
    if not text.isascii() or query.context_before or query.context_after:
        return tuple([_match(text, hit, query) for hit in hits])
    whole = text.decode("ascii")
    return tuple(
        [
            Match(hit[0], hit[3][0][0] + 1, whole[hit[1] : hit[2]], hit[3], (), ())
            if hit[2] - hit[1] <= LONGEST_TEXT
            else _match(text, hit, query)
            for hit in hits
        ]
    )


def _match(text: bytes, hit: Hit, query: Query) -> Match:
    number, start, end, spans = hit
    before = _before(text, start, query.context_before) if query.context_before else ()
    after = _after(text, end, query.context_after) if query.context_after else ()
    line = text[start:end]
    if len(line) <= LONGEST_TEXT and line.isascii():
        return Match(number, spans[0][0] + 1, line.decode("ascii"), spans, before, after)
    at, places = 0, []
    chars = 0
    for place in sorted({place for span in spans for place in span}):
        chars += len(line[at:place].decode("utf-8", "replace"))
        at = place
        places.append((place, chars))
    char_at = dict(places)
    whole = line.decode("utf-8", "replace")
    column = char_at[spans[0][0]]
    low = max(0, column - _LEAD) if len(whole) > LONGEST_TEXT else 0
    high = min(len(whole), low + LONGEST_TEXT)
    lead = CUT if low else ""
    seen = []
    for span in spans:
        left, right = (min(max(char_at[place], low), high) - low + len(lead) for place in span)
        if left < right or span is spans[0]:
            seen.append((left, right))
    cut = lead + whole[low:high] + (CUT if high < len(whole) else "")
    return Match(number, column + 1, cut, tuple(seen), before, after)


def _before(text: bytes, start: int, count: int) -> tuple[str, ...]:
    lines: list[str] = []
    while start > 0 and len(lines) < count:
        above = text.rfind(b"\n", 0, start - 1) + 1
        lines.append(_plain(text, above, start - 1))
        start = above
    return tuple(reversed(lines))


def _after(text: bytes, end: int, count: int) -> tuple[str, ...]:
    lines: list[str] = []
    while end + 1 < len(text) and len(lines) < count:
        start = end + 1
        end = text.find(b"\n", start)
        if end < 0:
            end = len(text)
        lines.append(_plain(text, start, end))
    return tuple(lines)


def _plain(text: bytes, start: int, end: int) -> str:
    # No character takes more than four bytes, so this much is enough to fill a line.
    line = text[start : min(end, start + 4 * LONGEST_TEXT + 4)].decode("utf-8", "replace")
    return line if len(line) <= LONGEST_TEXT else line[:LONGEST_TEXT] + CUT
