"""MEMORY.md: Forge adds marked lines under headings of its own; every other line is people's and stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forge.memory.compaction import LIMITS, Line, MemoryLimits, fits, folded
from forge.memory.marks import Fold, line_of, parsed_line
from forge.memory.values import Entry, NoteKind

_HEADING = re.compile(r"(?P<level>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*\r?\n?")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Notes:
    lines: tuple[Line, ...] = ()

    @classmethod
    def parse(cls, data: bytes) -> Notes:
        texts = re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape"))
        quoted = _quoted(texts)
        own = (None if i in quoted else parsed_line(text.rstrip("\r\n")) for i, text in enumerate(texts))
        return cls(tuple(map(Line, texts, own)))

    def encode(self) -> bytes:
        return "".join(line.text for line in self.lines).encode("utf-8", "surrogateescape")

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(line.own for line in self.lines if isinstance(line.own, Entry))

    @property
    def folds(self) -> tuple[Fold, ...]:
        return tuple(line.own for line in self.lines if isinstance(line.own, Fold))

    @property
    def plain(self) -> tuple[str, ...]:
        """People's lines, without what they quote and without the marks of lists."""
        quoted = _quoted([line.text for line in self.lines])
        theirs = (line.text for i, line in enumerate(self.lines) if line.own is None and i not in quoted)
        return tuple(re.sub(r"^\s*(?:[-*+]\s+)?[\"“]?|[\"”]?\s*$", "", text) for text in theirs)

    def with_entries(self, entries: Iterable[Entry], limits: MemoryLimits = LIMITS) -> Notes:
        """The same with lines for `entries`, folded as far as the limits ask for."""
        lines = list(self.lines)
        for entry in entries:
            _insert(lines, entry)
        return Notes(tuple(folded(lines, limits)))

    def fits(self, limits: MemoryLimits = LIMITS) -> bool:
        return fits(list(self.lines), limits)


def _insert(lines: list[Line], entry: Entry) -> None:
    if lines and not lines[-1].text.endswith("\n"):
        lines[-1] = Line(lines[-1].text + "\n", lines[-1].own)
    ending = "\r\n" if lines and lines[0].text.endswith("\r\n") else "\n"
    blank, new = Line(ending), Line(line_of(entry) + ending, entry)
    section = _section(lines, entry.kind)
    if section is None:
        heading = Line(f"## {entry.kind.value}{ending}")
        lines += [*([blank] if lines and lines[-1].text.strip() else []), heading, blank, new]
        return
    own = [i for i in section if (found := lines[i].own) is not None and found.kind is entry.kind]
    if own:
        lines.insert(own[-1] + 1, new)
        return
    # People may have written below the heading: their text comes first, ours after a blank line.
    end = next((i + 1 for i in reversed(section) if lines[i].text.strip()), section.start)
    lines[end:end] = [blank, new]
    if end + 2 < len(lines) and lines[end + 2].text.strip():
        lines.insert(end + 2, blank)


def _section(lines: list[Line], kind: NoteKind) -> range | None:
    """The lines below the heading of a kind, up to the next heading that is not below it."""
    headings = list(_headings([line.text for line in lines]))
    for number, (place, level, title) in enumerate(headings):
        if title == kind.value:
            following = headings[number + 1 :]
            return range(place + 1, next((i for i, other, _ in following if other <= level), len(lines)))
    return None


def _headings(texts: list[str]) -> Iterator[tuple[int, int, str]]:
    quoted = _quoted(texts)
    for i, text in enumerate(texts):
        if i not in quoted and (found := _HEADING.fullmatch(text)):
            yield i, len(found["level"]), found["title"]


def _quoted(texts: list[str]) -> set[int]:
    """Lines between fences. A fence that nobody closed is taken as text, else it would swallow what we append."""
    quoted: set[int] = set()
    start, fence = -1, ""
    for i, text in enumerate(texts):
        found = _FENCE.match(text)
        if found is None:
            continue
        if start < 0:
            start, fence = i, found["fence"]
        elif found["fence"].startswith(fence) and not found["rest"].strip():
            quoted.update(range(start, i + 1))
            start = -1
    return quoted
