"""Documents in pieces: each kind of file with the place that a person can look up."""

from __future__ import annotations

from typing import Any

import pytest

from forge.explore import turn
from forge.explore.brief import with_documents
from forge.explore.pieces import pieces_of
from forge.explore.workbench import Workbench
from forge.projects.state import defaults

pytestmark = pytest.mark.req("W-11")

PAGE = """<html><head><title>x</title><style>b {}</style></head><body><h1>Returns</h1><p>A return takes
<b>nine</b> days.<script>alert("never")</script></p><h2>Costs</h2>
<table><tr><td>Postage</td><td>4&nbsp;€</td></tr></table>
"""


def test_a_text_is_cut_into_pieces_of_whole_lines_with_their_place() -> None:
    text = "\n".join(f"line {n} " + "w" * 80 for n in range(1, 31))
    pieces = pieces_of("notes.md", text)
    assert "\n".join(each.text for each in pieces) == text
    assert pieces[0].place.startswith("notes.md, lines 1-")
    assert pieces[-1].place.endswith("-30")
    assert all(len(each.text) < 1_000 for each in pieces_of("one.txt", "x" * 5_000))
    assert pieces_of("empty.txt", " \n") == []


def test_a_page_is_read_as_its_words_under_its_headings() -> None:
    returns, costs = pieces_of("help/returns.html", PAGE)
    assert (returns.place, returns.text) == (
        "help/returns.html, section “Returns”",
        "Returns\nA return takes nine days.",
    )
    assert (costs.place, costs.text) == ("help/returns.html, section “Costs”", "Costs\n| Postage | 4 €")


def test_rows_repeat_the_header_and_say_where_they_are() -> None:
    rows = "\n".join(f'{n},"Depot, {n}",{n * 7}' for n in range(1, 101))
    pieces = pieces_of("orders.csv", f"id,depot,orders\n{rows}\n")
    assert len(pieces) > 1
    assert all(each.text.startswith("id | depot | orders\n") for each in pieces)
    assert pieces[0].place == "orders.csv, rows 2-" + pieces[0].place.rpartition("-")[2]
    assert "100 | Depot, 100 | 700" in pieces[-1].text
    assert pieces[-1].place.endswith("-101")


def test_pages_and_paragraphs_are_named() -> None:
    pages = pieces_of("plan.pdf", "First.\n\nSecond.", (0, 8))
    assert [(each.place, each.text) for each in pages] == [
        ("plan.pdf, page 1", "First."),
        ("plan.pdf, page 2", "Second."),
    ]
    word = pieces_of("letter.docx", "Dear all.\n# Reasons\nIt is late.")
    assert [each.place for each in word] == ["letter.docx, paragraph 1", "letter.docx, section “Reasons”"]


def test_secrets_are_taken_out_of_whole_files() -> None:
    seen: list[str] = []

    def clean(text: str) -> str:
        seen.append(text)
        return text.replace("hunter2", "…")

    found = pieces_of("a.md", "x\n" * 1000 + "hunter2", clean=clean)
    assert "hunter2" not in "".join(each.text for each in found)
    assert len(seen) == 1


def test_a_place_keeps_its_id_and_a_brief_names_what_it_cites() -> None:
    values: dict[str, Any] = {**defaults(), "messages": [{"role": "user", "content": "x"}]}
    bench = Workbench(values, turn=1)
    first = turn.passages_of(bench, pieces_of("a.md", "Late.") + pieces_of("b.md", "Slow."))
    turn.cite(bench, first)
    again = turn.passages_of(bench, pieces_of("c.md", "New.") + pieces_of("b.md", "Slow."))
    assert [each.id for each in (*first, *again)] == ["D1", "D2", "D3", "D2"]
    turn.cite(bench, again)
    assert with_documents("It is late [D1, D3].\n", bench).endswith(
        "\n\n## Documents\n\n- a.md, line 1 [D1]\n- c.md, line 1 [D3]\n"
    )
    bench.routing["citations"] = {"D9": "x", "Dx": {}, "D4": {"place": "d.md, line 2"}}
    assert turn.passages_of(bench, pieces_of("e.md", "x"))[0].id == "D5"
