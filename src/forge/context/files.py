"""The text of files as a model gets it: path and short blob id, then the plain text between fences.

Lines are not numbered: models copy numbers into their edits. The fence is longer than any run of backticks in the
text, so no file can close it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from forge.context import tokens
from forge.context.kinds import kind_of
from forge.context.summaries import Redact, printable, readable_size
from forge.errors import ForgeError
from forge.git import Entry, Mode, ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.sessions.active import ActiveFile

Range = tuple[int, int]
MOST_TOKENS = 12_000
"""Of one file; of a longer one the beginning and the end are shown."""
_MOST_BYTES = 16 << 20
_SHORT_ID = 8
_SNIFF = 8000
_LONGEST_LINE = 4_000
_TICKS = re.compile("`{3,}")
_FENCES = {
    "npm package": "json",
    "python project": "toml",
    "rust package": "toml",
    "shell": "sh",
    "text": "",
    "file": "",
}


class InContext(StrEnum):
    NOT = "not"
    PARTLY = "partly"
    FULLY = "fully"


def in_context(path: str, active: Iterable[ActiveFile], instructions: Collection[str] = ()) -> InContext:
    """How much of a file a model is shown; `instructions` are shown whole by themselves."""
    if path in instructions:
        return InContext.FULLY
    found = next((file for file in active if file.path == path), None)
    return InContext.NOT if found is None else InContext.PARTLY if found.ranges else InContext.FULLY


@dataclass(frozen=True, slots=True)
class Shown:
    """Which part of which content of a file a model gets."""

    path: str
    blob: ObjectId | None
    """None when the file is not there."""
    ranges: tuple[Range, ...] = ()
    mode: int = Mode.FILE
    limit: int = MOST_TOKENS


def file_text(shown: Shown, objects: Objects, redact: Redact, *, note: str = "", data: bytes | None = None) -> str:
    """The block of one file. `note` says why it comes; `data` is given for content that is not in the repository."""
    path = printable(shown.path)
    lead = f"{note}\n" if note else ""
    if shown.blob is None:
        return f"{lead}{path} is not there.\n"
    entry = Entry(shown.mode, shown.blob)
    if entry.is_submodule or entry.is_tree:
        return f"{lead}{path} is a {'submodule' if entry.is_submodule else 'folder'}; it has no text of its own.\n"
    if data is None:
        try:
            data = objects.blob(shown.blob)
        except ForgeError:
            return f"{lead}{path} (blob {shown.blob[:_SHORT_ID]}): this text is no longer in the repository.\n"
    if entry.is_symlink:
        return f"{lead}{path} is a symbolic link to {redact(printable(data.decode('utf-8', 'replace')))}.\n"
    if b"\0" in data[:_SNIFF] or len(data) > _MOST_BYTES:
        kind = "binary" if b"\0" in data[:_SNIFF] else "too large to show"
        return f"{lead}{path} (blob {shown.blob[:_SHORT_ID]}) is {kind}, {readable_size(len(data))}.\n"
    return lead + _fenced(path, shown, _redacted(data.decode("utf-8", "replace"), redact))


def _redacted(text: str, redact: Redact) -> str:
    """Without secrets, and with every other line where it was: ranges are counted in the file itself."""
    clean = redact(text)
    if clean.count("\n") == text.count("\n"):
        return clean
    before, after = text.split("\n"), clean.split("\n")
    lines: list[str] = []
    at = 0
    for place, line in enumerate(after):
        lines.append(line)
        at += 1
        if len(before) - at == len(after) - place - 1 or before[at - 1] == line:
            continue
        # A secret over several lines became one: the lines up to the next one that is left are empty.
        following = after[place + 1] if place + 1 < len(after) else None
        end = at
        while end < len(before) and before[end] != following:
            end += 1
        if end < len(before) or following is None:
            lines += [""] * (end - at)
            at = end
    return "\n".join(lines)


def _fenced(path: str, shown: Shown, text: str) -> str:
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    head = f"{path} (blob {(shown.blob or '')[:_SHORT_ID]}, {len(lines):,} line{'s' if len(lines) != 1 else ''})"
    if not lines:
        return f"{head[: head.rindex(',')]}) is empty.\n"
    if not ended:
        head += ", no newline at the end"
    pieces = _pieces(lines, shown.ranges)
    if not pieces:
        return f"{head}: the lines asked for are beyond its end.\n"
    parts = [f"{head}:"]
    room = shown.limit // len(pieces)
    fence = _fence(text)
    kind = kind_of(shown.path).name
    word = _FENCES.get(kind, kind if kind.isalpha() else "")
    for first, last in pieces:
        for start, end in _fitting(lines, first, last, room):
            if (start, end) != (1, len(lines)):
                parts.append(f"lines {start:,}–{end:,}:")
            body = "\n".join(_bounded(line) for line in lines[start - 1 : end])
            parts += [f"{fence}{word}", body, fence]
    return "\n".join(parts) + "\n"


def _pieces(lines: Sequence[str], ranges: Sequence[Range]) -> list[Range]:
    """Ranges in order, within the file, joined where they touch."""
    if not ranges:
        return [(1, len(lines))]
    joined: list[Range] = []
    for first, last in sorted((max(first, 1), min(last, len(lines))) for first, last in ranges):
        if first > last:
            continue
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def _fitting(lines: Sequence[str], first: int, last: int, room: int) -> list[Range]:
    """The whole piece, or its beginning and end: two thirds and one third of the room."""
    sizes = [tokens.of_bytes(min(tokens.size(line), _LONGEST_LINE) + 1) for line in lines[first - 1 : last]]
    if sum(sizes) <= room:
        return [(first, last)]
    head = _taken(sizes, room * 2 // 3)
    tail = _taken(sizes[::-1], room - room * 2 // 3)
    head = max(head, 1)
    if head + tail >= len(sizes):
        return [(first, last)]
    return [(first, first + head - 1), *([(last - tail + 1, last)] if tail else [])]


def _taken(sizes: Sequence[int], room: int) -> int:
    count = 0
    for taken in sizes:
        room -= taken
        if room < 0:
            break
        count += 1
    return count


def _bounded(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}[… {len(line) - _LONGEST_LINE:,} characters of this line left out]"


def _fence(text: str) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=2)
    return "`" * (longest + 1)
