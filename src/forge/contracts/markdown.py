"""Markdown contracts as a title and sections. What is in a code fence is text, never a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"[-*] +(?:\*\*)?([A-Z][0-9]+(?:\.[0-9]+)?)(?:\*\*)?: *(.*)")


@dataclass(frozen=True, slots=True)
class Section:
    """`line` is where its heading was read, `first` where its body was; two sections are equal if they say the same."""

    heading: str
    body: str
    line: int = field(default=1, compare=False)
    first: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    intro: str
    sections: tuple[Section, ...]

    def section(self, heading: str) -> Section | None:
        wanted = heading.casefold()
        return next((each for each in self.sections if each.heading.casefold() == wanted), None)


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a list that begins with an id, with its continuation lines."""

    id: str
    text: str
    line: int


def parse(text: str) -> Document:
    """Any text is a document; what it lacks is for the check to say."""
    title = ""
    # What comes before the first heading, then each section: its heading, line and lines.
    parts: list[tuple[str, int, list[str]]] = [("", 0, [])]
    for number, line, is_code in lines(text):
        if not is_code and line.startswith("# ") and not title and len(parts) == 1:
            title = line[2:].strip()
        elif not is_code and line.startswith("## "):
            parts.append((line[3:].strip(), number, []))
        else:
            parts[-1][2].append(line)
    sections = tuple(_section(*part) for part in parts[1:])
    return Document(title, _trimmed(parts[0][2]), sections)


def _section(heading: str, line: int, body: list[str]) -> Section:
    blank = next((number for number, each in enumerate(body) if each), 0)
    return Section(heading, _trimmed(body), line, line + 1 + blank)


def format(document: Document) -> str:  # noqa: A001 - the counterpart of `parse`
    parts = [f"# {document.title}", *([document.intro] if document.intro else [])]
    for each in document.sections:
        parts += [f"## {each.heading}", *([each.body] if each.body else [])]
    return "\n\n".join(parts) + "\n"


def lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Number, line, and whether it belongs to a code fence."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        clean = line.rstrip("\r")
        found = _FENCE.match(clean)
        yield number, clean, bool(fence or found)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence):
            fence = ""


def items(text: str, first: int) -> list[Item]:
    """Lines `- F1: text` in `text`, whose first line is line `first` of the document."""
    found: list[Item] = []
    is_open = False
    for number, line, is_code in lines(text):
        matched = None if is_code else _ITEM.fullmatch(line.rstrip())
        if matched:
            found.append(Item(matched[1], matched[2], first + number - 1))
            is_open = True
        elif is_open and line.startswith("  ") and line.strip():
            last = found[-1]
            found[-1] = Item(last.id, f"{last.text} {line.strip()}".strip(), last.line)
        else:
            is_open = False
    return found


def _trimmed(body: list[str]) -> str:
    return "\n".join(body).strip("\n").rstrip()
