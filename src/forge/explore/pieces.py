"""A person's documents in pieces that can be searched and cited: each with its file and where in it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from itertools import islice

from forge.store.passages import Piece

SIZE = 900
"""Characters of a piece, about; it ends where a line does."""
_HEADING = re.compile(r"#{1,6} +(.+)")
_HTML = (".html", ".htm", ".xhtml")
_TABLES = {".csv": ",", ".tsv": "\t"}
_DOCX = ".docx"
_ROWS = 20_000


def pieces_of(path: str, text: str, pages: Sequence[int] = (), *, clean: Callable[[str], str] = str) -> list[Piece]:
    """By the kind of file: rows with their header, pages, sections under a heading, or lines.

    `clean` takes secrets out. It is given whole files or pages: half of a secret looks harmless.
    """
    if pages:
        return list(_pages(path, text, pages, clean))
    text = clean(text)
    ending = path[path.rfind(".") :].lower()
    if ending in _TABLES:
        return list(_rows(path, text, _TABLES[ending]))
    if ending in _HTML:
        return list(_sections(path, html_text(text)))
    if ending == _DOCX:
        return list(_sections(path, text))
    return [Piece(f"{path}, {_span('line', first, last)}", found) for first, last, found in _lines(text)]


def html_text(source: str) -> str:
    """The words of a page, a block a line; headings as `#` lines. Scripts and styles are left out."""
    reader = _Page()
    reader.feed(source)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return "\n".join(line for line in lines if line)


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """First line, last line and text of each piece."""
    lines: list[str] = []
    first, size = 1, 0
    for number, whole in enumerate(text.splitlines(), 1):
        for start in range(0, max(len(whole), 1), SIZE):
            line = whole[start : start + SIZE]
            if lines and (start or size + len(line) > SIZE):
                yield first, first + len(lines) - 1, "\n".join(lines).strip()
                lines, first, size = [], number, 0
            lines.append(line)
            size += len(line) + 1
    if any(line.strip() for line in lines):
        yield first, first + len(lines) - 1, "\n".join(lines).strip()


def _span(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"


def _pages(path: str, text: str, starts: Sequence[int], clean: Callable[[str], str]) -> Iterator[Piece]:
    ends = [*starts[1:], len(text)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        for _, _, found in _lines(clean(text[start:end])):
            yield Piece(f"{path}, page {number}", found)


def _sections(path: str, text: str) -> Iterator[Piece]:
    """Pieces do not reach over a heading; before the first one, paragraphs are counted."""
    heading = ""
    block: list[str] = []
    begun = 1
    for number, line in enumerate([*text.splitlines(), "# "], 1):
        found = _HEADING.fullmatch(line)
        if not found and line != "# ":
            block.append(line)
            continue
        for first, last, piece in _lines("\n".join(block)):
            where = f"section “{heading}”" if heading else _span("paragraph", begun + first - 1, begun + last - 1)
            yield Piece(f"{path}, {where}", f"{heading}\n{piece}".strip())
        heading, block, begun = found[1].strip()[:80] if found else "", [], number + 1


def _rows(path: str, text: str, delimiter: str) -> Iterator[Piece]:
    """Each piece repeats the header, so that its values say what they are."""
    read = csv.reader(text.splitlines(), delimiter=delimiter)
    try:
        rows = [" | ".join(cell.strip() for cell in row)[:SIZE] for row in islice(read, _ROWS)]
    except csv.Error:  # such as a field larger than the reader allows: it is text all the same
        rows = text.splitlines()[:_ROWS]
    header = rows[0] if rows else ""
    for first, last, found in _lines("\n".join(rows[1:])):
        yield Piece(f"{path}, {_span('row', first + 1, last + 1)}", f"{header}\n{found}")
    if len(rows) == 1 and header:
        yield Piece(f"{path}, row 1", header)


class _Page(HTMLParser):
    _silent = frozenset({"script", "style", "template", "noscript", "head"})
    _inline = frozenset(("a", "abbr", "b", "cite", "code", "em", "i", "mark", "q", "s", "small", "span", "strong", "u"))

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag in self._silent:
            self._hidden += 1
        elif re.fullmatch(r"h[1-6]", tag):
            self.parts.append(f"\n{'#' * int(tag[1])} ")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag not in self._inline:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            self._hidden = max(0, self._hidden - 1)
        elif tag not in self._inline and tag not in ("td", "th"):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\n", " "))
