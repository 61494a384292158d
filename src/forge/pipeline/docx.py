"""The text of a Word document: its paragraphs and tables, read from the main part alone and within bounds."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

_MAIN = "word/document.xml"
_LARGEST = 40_000_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BROKEN = "broken Word document: it cannot be read"


@dataclass(frozen=True, slots=True)
class Extract:
    """What a document says, a paragraph a line. `reason` is why there is nothing to read."""

    text: str = ""
    reason: str = ""


def extract(data: bytes, characters: int) -> Extract:
    """Headings become `#` lines, a row of a table becomes one line. Nothing that it links to is opened."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.getinfo(_MAIN).file_size > _LARGEST:
                return Extract(reason="Word document given up: it unpacks to more than is allowed")
            with archive.open(_MAIN) as part:
                text = _joined(_lines(io.BytesIO(part.read(_LARGEST))), characters)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, OSError, ParseError, DefusedXmlException):
        return Extract(reason=_BROKEN)
    return Extract(text) if text.strip() else Extract(reason="Word document without text")


def _joined(lines: Iterator[str], characters: int) -> str:
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > characters:
            break
        kept.append(line)
    return "\n".join(kept)


def _lines(xml: io.BytesIO) -> Iterator[str]:
    """Each is given as soon as it is whole, and its part of the tree is let go."""
    cells: list[str] = []
    depth = 0
    for event, each in iterparse(xml, events=("start", "end"), forbid_dtd=True):
        if each.tag == f"{_W}tbl":
            depth += 1 if event == "start" else -1
        elif event == "end" and each.tag == f"{_W}p":
            text = _paragraph(each)
            if depth:
                cells.append(text)
            else:
                yield text
            each.clear()
        elif event == "end" and each.tag == f"{_W}tr":
            yield " | ".join(filter(None, cells))
            cells = []
            each.clear()


def _paragraph(paragraph: Element) -> str:
    parts: list[str] = []
    for each in paragraph.iter():
        if each.tag == f"{_W}t":
            parts.append(each.text or "")
        elif each.tag in (f"{_W}tab", f"{_W}br"):
            parts.append(" ")
    text = "".join(parts).strip()
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    name = "" if style is None else style.get(f"{_W}val", "")
    level = name.removeprefix("Heading")
    return f"{'#' * int(level)} {text}" if text and level.isdecimal() and level != name and int(level) < 7 else text
