"""Keeps MEMORY.md short: the oldest lines of Forge become one that counts them. Other words are not touched."""

from __future__ import annotations

from dataclasses import dataclass

from forge.memory.marks import Fold, Own, line_of
from forge.memory.values import Entry, NoteKind

# What is folded first, and how many of the newest always stay: the last checkpoint says the state of the work.
_ORDER = ((NoteKind.CHECKPOINT, 1), (NoteKind.DELEGATION, 0), (NoteKind.COMPLETION, 1))


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """What programs read of MEMORY.md at the start of a session; the rest would never be seen."""

    lines: int = 200
    bytes: int = 25_000


LIMITS = MemoryLimits()


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its line break. `own` is what it says if Forge wrote it."""

    text: str
    own: Own | None = None

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8", "surrogateescape"))


def fits(lines: list[Line], limits: MemoryLimits) -> bool:
    return len(lines) <= limits.lines and sum(line.size for line in lines) <= limits.bytes


def folded(lines: list[Line], limits: MemoryLimits) -> list[Line]:
    """As few lines folded as it takes; all that may be, if even that does not suffice."""
    lines = list(lines)
    size = sum(line.size for line in lines)
    for kind, kept in _ORDER:
        while len(lines) > limits.lines or size > limits.bytes:
            places = [i for i, line in enumerate(lines) if isinstance(line.own, Entry) and line.own.kind is kind]
            if len(places) <= kept:
                break
            size += _fold_oldest(lines, kind, places[0])
    return lines


def _fold_oldest(lines: list[Line], kind: NoteKind, place: int) -> int:
    """Fold one line into the fold of its kind. Gives by how many bytes the whole grew, which is seldom above zero."""
    entry, ending = lines[place].own, lines[place].text[len(lines[place].text.rstrip("\r\n")) :]
    assert isinstance(entry, Entry)
    before = lines[place].size
    fold_place = next((i for i, line in enumerate(lines) if isinstance(line.own, Fold) and line.own.kind is kind), None)
    if fold_place is None:
        fold = Fold(kind, 1, entry.at, entry.at)
        lines[place] = Line(line_of(fold) + ending, fold)
        return lines[place].size - before
    old = lines[fold_place]
    assert isinstance(old.own, Fold)
    fold = Fold(kind, old.own.count + 1, min(old.own.first, entry.at), max(old.own.last, entry.at))
    lines[fold_place] = Line(line_of(fold) + (ending or "\n"), fold)
    change = lines[fold_place].size - old.size - before
    del lines[place]
    return change
