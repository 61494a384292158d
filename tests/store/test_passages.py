"""Search over the pieces of a person's documents."""

from __future__ import annotations

import pytest

from forge.store.database import Database
from forge.store.passages import Piece, search_passages

pytestmark = pytest.mark.req("W-11")


def test_the_piece_that_fits_best_comes_first_and_odd_queries_do_no_harm(database: Database) -> None:
    pieces = [
        Piece("a", "Billing is monthly."),
        Piece("b", "Orders change late,\0 changed by sales."),
        Piece("c", "An order of flowers for the office, ordered once."),
        Piece("d", "z"),
    ]
    found = search_passages(pieces, "late changes of an order", database=database)
    assert [each.place for each in found] == ["b", "c"]
    assert search_passages(pieces, "MONTHLY bills", most=1, database=database) == (pieces[0],)
    for odd in ("", "???", '" OR 1=1 --', "NEAR( AND *", "unheard", "'; DROP TABLE runs; --", "it's & | !"):
        assert len(search_passages(pieces, odd, most=2, database=database)) <= 2
