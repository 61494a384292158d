"""A Markdown text as a Word document or a PDF: headings, paragraphs, lists and tables on A4 pages."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt

from forge.errors import InvalidInput

if TYPE_CHECKING:
    from fpdf import FPDF
    from markdown_it.token import Token

_FONTS = ("DejaVuSans", "NotoSans-Regular", "LiberationSans-Regular", "Arial Unicode", "Arial", "arial")
_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts", "C:/Windows/Fonts")
_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "…": "...", "→": "->"})
_OWN = "forge"
_SIZES = {1: 18, 2: 13, 3: 11}


class FontMissing(InvalidInput):
    """A PDF needs a font with all the letters of its text, and this machine has none."""

    code = "font_missing"


@dataclass(frozen=True, slots=True)
class Block:
    kind: Literal["heading", "text", "item", "row", "code"]
    text: str
    level: int = 0
    """Of a heading, from 1; of an item, how deep it is."""
    number: int | None = None
    """Of an item in an ordered list."""
    cells: tuple[str, ...] = ()


def blocks(markdown: str) -> list[Block]:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return list(_blocks(parser.parse(markdown)))


def _blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    lists: list[int | None] = []
    cells: list[str] = []
    heading, is_row = 0, False
    for token in tokens:
        match token.type:
            case "bullet_list_open":
                lists.append(None)
            case "ordered_list_open":
                lists.append(int(token.attrGet("start") or 1) - 1)
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open" if lists and lists[-1] is not None:
                lists[-1] += 1
            case "heading_open" | "heading_close":
                heading = int(token.tag[1]) if token.nesting > 0 else 0
            case "tr_open":
                cells, is_row = [], True
            case "tr_close":
                is_row = False
                yield Block("row", " | ".join(cells), cells=tuple(cells))
            case "fence" | "code_block":
                yield Block("code", token.content.rstrip("\n"))
            case "inline" if is_row:
                cells.append(_words(token))
            case "inline":
                yield _block(_words(token), heading, lists)


def _block(text: str, heading: int, lists: Sequence[int | None]) -> Block:
    if heading:
        return Block("heading", text, heading)
    return Block("item", text, len(lists), lists[-1]) if lists else Block("text", text)


def _words(token: Token) -> str:
    parts = (" " if each.type in ("softbreak", "hardbreak") else each.content for each in token.children or ())
    return "".join(parts).strip()


def docx_of(markdown: str) -> bytes:
    import docx  # noqa: PLC0415 - only whoever exports waits for it

    document = docx.Document()
    rows: list[tuple[str, ...]] = []
    for each in [*blocks(markdown), Block("text", "")]:
        text = _printable(each.text)
        if each.kind != "row" and rows:
            table = document.add_table(rows=0, cols=max(map(len, rows)), style="Table Grid")
            for row in rows:
                for cell, words in zip(table.add_row().cells, row, strict=False):
                    cell.text = _printable(words)
            rows = []
        match each.kind:
            case "heading":
                document.add_heading(text, level=min(each.level, 4))
            case "item":
                name = "List Bullet" if each.number is None else "List Number"
                document.add_paragraph(text, style=name if each.level == 1 else f"{name} {min(each.level, 3)}")
            case "row":
                rows.append(each.cells)
            case "text" | "code" if text:
                document.add_paragraph(text)
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def pdf_of(markdown: str) -> bytes:
    from fpdf import FPDF  # noqa: PLC0415 - only whoever exports waits for it

    found = [each for each in blocks(markdown) if each.text]
    pdf = FPDF(format="A4")
    pdf.set_margins(24, 22, 24)
    pdf.set_auto_page_break(auto=True, margin=22)
    is_wide = _with_font(pdf, "".join(each.text for each in found))
    pdf.add_page()
    for each in found:
        text = _printable(each.text) if is_wide else _narrow(each.text)
        size = _SIZES.get(each.level, 11) if each.kind == "heading" else 10.5
        pdf.set_font(style="B" if each.kind == "heading" and not is_wide else "", size=size)
        if each.kind == "heading":
            pdf.ln(0 if each.level == 1 else 3)
        pdf.set_x(pdf.l_margin + (5.0 * each.level if each.kind == "item" else 0.0))
        mark = "" if each.kind != "item" else "- " if each.number is None else f"{each.number}. "
        pdf.multi_cell(0, size * 0.5, mark + text, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(0.8 if each.kind in ("item", "row") else 2)
    return bytes(pdf.output())


def _with_font(pdf: FPDF, text: str) -> bool:
    """Whether it is a font of this machine; the built-in one has the letters of western Europe."""
    font = _font()
    if font is not None:
        pdf.add_font(_OWN, fname=font)
        pdf.set_font(_OWN)
        return True
    strange = sorted({letter for letter in _narrow(text) if ord(letter) > 255})
    if strange:
        raise FontMissing(
            f"A PDF of this text needs a font with {''.join(strange[:8])!r}.",
            hint="Install DejaVu Sans or Noto Sans, or take DOCX or Markdown.",
        )
    pdf.set_font("helvetica")
    return False


def _font() -> Path | None:
    home = Path(os.path.expanduser("~"))
    places = [*map(Path, _FOLDERS), home / ".fonts", home / ".local/share/fonts"]
    files = {path.stem: path for place in places if place.is_dir() for path in sorted(place.rglob("*.ttf"))}
    return next((files[name] for name in _FONTS if name in files), None)


def _narrow(text: str) -> str:
    return _printable(text).translate(_PLAIN)


def _printable(text: str) -> str:
    """Neither format holds control characters."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "", text)
