"""Where a text that is not in a file almost is, and what keeps it from matching."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forge.tools.result_text import clipped, lines_of

_MOST_LINES = 20_000
_ANCHORS = 6
_CANDIDATES = 24
_LIKENESS = 55.0
_DIFF_LINES = 40
_NUMBERED = re.compile(r"\s*\d+\t")


@dataclass(frozen=True, slots=True)
class Nearest:
    """Lines `first` to `last` of the file are most like the wanted text."""

    first: int
    last: int
    lines: tuple[str, ...]
    likeness: float


def explanation(text: str, search: str) -> str:
    """What to tell a model whose `search` does not occur in `text`."""
    hints = list(_hints(text, search))
    found = nearest(text, search)
    if found is None:
        return "\n".join([*hints, "Nothing in the file is like it. Read the file again before editing it."])
    where = f"line {found.first}" if found.first == found.last else f"lines {found.first}-{found.last}"
    difference = _whitespace(lines_of(search), found.lines)
    if difference:
        hints.append(f"{where.capitalize()} differ from it only in white space: {difference}.")
    else:
        hints.append(f"Nearest: {where} ({found.likeness:.0f} % alike).")
    diff = _diff(lines_of(search), found.lines)
    return "\n".join([*hints, "- is your search text, + is what the file has:", *diff])


def nearest(text: str, search: str) -> Nearest | None:
    """The run of lines most like `search`, if any is."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - only failed edits need it

    lines, wanted = lines_of(text)[:_MOST_LINES], lines_of(search)
    if not lines or not wanted:
        return None
    size, plain = len(wanted), "\n".join(map(_plain, wanted))
    best: Nearest | None = None
    for start in _starts(lines, wanted):
        window = tuple(lines[start : start + size])
        likeness = fuzz.ratio(plain, "\n".join(map(_plain, window)), score_cutoff=_LIKENESS)
        if likeness and (best is None or likeness > best.likeness):
            best = Nearest(start + 1, start + len(window), window, likeness)
    return best


def _starts(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the text may begin: the longest lines of it vote for the places where lines like them stand."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    plain = [_plain(line)[:400] for line in lines]
    votes: Counter[int] = Counter()
    anchors = sorted(range(len(wanted)), key=lambda at: (-len(wanted[at].strip()), at))[:_ANCHORS]
    for anchor in anchors:
        line = _plain(wanted[anchor])[:400]
        if line:
            alike = process.extract(line, plain, scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LIKENESS)
            for _, likeness, at in alike:
                votes[max(0, at - anchor)] += int(likeness)
    ranked = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return [start for start, _ in ranked[:_CANDIDATES]]


def _plain(line: str) -> str:
    return " ".join(line.split())


def _hints(text: str, search: str) -> Iterator[str]:
    rows = [line for line in lines_of(search) if line.strip()]
    if rows and all(_NUMBERED.match(line) for line in rows):
        yield "Leave out the line numbers and tabs that read_file puts before each line."
    unescaped = search.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if unescaped != search and unescaped in text:
        yield "It is there without the backslash escapes: send real line ends, tabs and quotes."
    if search.lower() in text.lower():
        yield "It is there with other capital letters."


def _whitespace(wanted: Sequence[str], there: Sequence[str]) -> str:
    """How two texts differ when only white space tells them apart; else nothing."""
    if len(wanted) != len(there) or any(_plain(a) != _plain(b) for a, b in zip(wanted, there, strict=True)):
        return ""
    kinds = []
    if any(_indent(a) != _indent(b) for a, b in zip(wanted, there, strict=True)):
        tabs = ("\t" in "".join(map(_indent, wanted)), "\t" in "".join(map(_indent, there)))
        names = {True: "tabs", False: "spaces"}
        kinds.append(
            f"the file is indented with {names[tabs[1]]}, your text with {names[tabs[0]]}"
            if tabs[0] != tabs[1]
            else "the indentation"
        )
    if any(a.rstrip() != a or b.rstrip() != b for a, b in zip(wanted, there, strict=True) if a != b):
        kinds.append("spaces at line ends")
    return " and ".join(kinds) or "spaces within a line"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _diff(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    rows = [
        _seen(row)
        for row in difflib.unified_diff(wanted[:200], there[:200], n=2, lineterm="")
        if not row.startswith(("---", "+++", "@@"))
    ]
    return rows[:_DIFF_LINES] + (["[The difference continues.]"] if len(rows) > _DIFF_LINES else [])


def _seen(row: str) -> str:
    """A row whose white space at the edges can be distinguished."""
    mark, line = row[:1], row[1:]
    body = line.rstrip()
    indent = _indent(line)
    return mark + indent.replace("\t", "→") + clipped(body[len(indent) :], 200) + "·" * (len(line) - len(body))
