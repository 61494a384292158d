"""Word documents as text: paragraphs, headings and tables of real files; hostile ones are refused with a reason."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx as word
import pytest

from forge.pipeline import resources
from forge.pipeline.docx import extract

pytestmark = pytest.mark.req("W-11")


def written() -> bytes:
    document = word.Document()
    document.add_heading("Why orders are late", level=1)
    document.add_paragraph("Piotr keeps a private list.")
    table = document.add_table(rows=2, cols=2)
    for row, texts in zip(table.rows, (("depot", "orders"), ("Nord", "80")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_paragraph("The end.")
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def archive(main: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("word/document.xml", main)
    return made.getvalue()


def test_headings_paragraphs_and_rows_come_in_their_order() -> None:
    text = "# Why orders are late\nPiotr keeps a private list.\ndepot | orders\nNord | 80\nThe end."
    assert extract(written(), 10_000).text == text


def test_a_resource_of_a_project_is_read(tmp_path: Path) -> None:
    (tmp_path / "letter.docx").write_bytes(written())
    (found,) = resources.read(tmp_path, vision=False).texts
    assert (found.kind, found.path) == (resources.ResourceKind.DOCX, "letter.docx")
    assert "Piotr keeps a private list." in found.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04", "broken"),
        (archive(b"<not xml"), "broken"),
        (archive(b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'), "broken"),
        (archive(b"<x>" + b" " * 41_000_000 + b"</x>"), "unpacks to more"),
        (archive(b"<x/>"), "without text"),
    ],
    ids=["no archive", "no xml", "entities", "bomb", "empty"],
)
def test_a_hostile_one_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    assert reason in extract(data, 10_000).reason
