"""Search over the pieces of a person's documents."""

from __future__ import annotations

import pytest

from forge.store.passages import Piece, chunked, search_passages

pytestmark = pytest.mark.req("W-11")


def test_a_text_is_cut_into_pieces_of_whole_lines_with_their_place() -> None:
    text = "\n".join(f"line {n} " + "w" * 80 for n in range(1, 31))
    pieces = chunked("notes.md", text)
    assert "\n".join(each.text for each in pieces) == text
    assert pieces[0].place.startswith("notes.md, lines 1-")
    assert pieces[-1].place.endswith("-30")
    assert all(len(each.text) < 1_000 for each in chunked("one.txt", "x" * 5_000))
    assert chunked("empty.txt", " \n") == []


def test_the_piece_that_fits_best_comes_first_and_odd_queries_do_no_harm() -> None:
    pieces = [Piece("a", "Billing is monthly."), Piece("b", "Orders change late, changed by sales."), Piece("c", "z")]
    assert search_passages(pieces, "late changes of an order")[0].place == "b"
    for odd in ("", "???", '" OR 1=1 --', "NEAR( AND *", "unheard"):
        assert search_passages(pieces, odd, most=2) in ((), (pieces[1],), (pieces[0],))
