"""Briefs as Word documents and PDFs, and the register as pictures: read back with other libraries."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import docx
import pytest
from pypdf import PdfReader

from forge.explore import paper, pictures

pytestmark = pytest.mark.req("W-06")

BRIEF = """# Problem brief

## Problem

Orders are typed **twice** [T2].
They lose “two hours” a day [T1].

- Why now: a new customer → more orders [T5].
  - inside
1. first
2. second

| depot | orders |
|---|---|
| Nord | 80 |
"""


def test_a_word_document_has_headings_lists_and_tables() -> None:
    made = docx.Document(io.BytesIO(paper.docx_of(BRIEF + "\x00\x1bend\n")))
    named = [(each.style.name, each.text) for each in made.paragraphs if each.style is not None]
    assert ("Heading 1", "Problem brief") in named
    assert ("Heading 2", "Problem") in named
    assert ("List Bullet", "Why now: a new customer → more orders [T5].") in named
    assert ("List Bullet 2", "inside") in named
    assert ("List Number", "second") in named
    assert any("Orders are typed twice [T2]. They lose “two hours” a day [T1]." in text for _, text in named)
    assert [[cell.text for cell in row.cells] for row in made.tables[0].rows][1] == ["Nord", "80"]


def test_a_pdf_says_the_same() -> None:
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(paper.pdf_of(BRIEF * 12))).pages)
    flat = " ".join(text.split())
    assert flat.count("Problem brief") == 12
    for part in ("Orders are typed twice [T2].", "2. second", "Nord | 80", "Why now: a new customer"):
        assert part in flat


def test_without_a_font_western_letters_still_print_and_others_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "_font", lambda: None)
    text = PdfReader(io.BytesIO(paper.pdf_of("# Größe\n\n“Two” – three…\n"))).pages[0].extract_text()
    assert "Größe" in text
    assert '"Two" - three...' in text
    with pytest.raises(paper.FontMissing, match="Ж"):
        paper.pdf_of("Жизнь")


def assumption(id_: str, **values: Any) -> dict[str, Any]:
    usual = {"claim": "<b>Mails & orders</b>", "impact": "high", "confidence": "guessed", "status": "active"}
    return {"id": id_, "risk": 2.4, "depends_on": [], **usual, **values}


def texts(svg: str) -> str:
    return " ".join(each.text or "" for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


def test_pictures_are_valid_and_hold_what_people_wrote_as_text() -> None:
    chain = [assumption("A1", status="invalidated"), assumption("A2", depends_on=["A1"], status="at_risk")]
    assert texts(pictures.matrix(chain)).count("<b>Mails & orders</b>") == 2
    graph = pictures.dependencies([*chain, assumption("A3", depends_on=["A1", "A9"], claim="x\x00y")])
    assert "stroke-dasharray" in graph
    assert ET.fromstring(graph).get("width") == "480"
    node = {"kind": "Assumption", "label": "", "text": "t", "status": "active"}
    nodes = [{**node, "id": "outcome", "parent": None}, {**node, "id": "A1", "parent": "outcome"}]
    rows = ET.fromstring(pictures.tree([*nodes, {**node, "id": "A2", "parent": "outcome"}]))
    assert (rows.get("width"), rows.get("height")) == ("480", "204")
    for draw in (pictures.matrix, pictures.dependencies, pictures.tree):
        assert ET.fromstring(draw([])).tag.endswith("svg")


def test_a_chain_of_a_thousand_is_drawn(tmp_path: Path) -> None:
    long = [assumption(f"A{n}", depends_on=[f"A{n - 1}"] if n > 1 else []) for n in range(1, 1001)]
    assert "A1000 risk" in texts(pictures.dependencies(long))
    node = {"kind": "Assumption", "label": "", "text": "t", "status": "active"}
    tree = [{**node, "id": f"A{n}", "parent": f"A{n - 1}" if n > 1 else None} for n in range(1, 1001)]
    assert texts(pictures.tree(tree)).count("Assumption") == 1000
