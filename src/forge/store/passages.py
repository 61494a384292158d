"""Full-text search over the pieces of a person's documents, by the engine of the database: FTS5 or PostgreSQL.

The index is made for one search: what is searched are files, which change without anybody being told.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import text

from forge.store.database import Database

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Piece:
    place: str
    """The file and where in it, for a citation."""
    text: str


def search_passages(
    pieces: Sequence[Piece], query: str, *, most: int = 4, database: Database | None = None
) -> tuple[Piece, ...]:
    """The pieces that fit the words best, the best first. A query without words finds nothing."""
    words = list(dict.fromkeys(_WORD.findall(query.casefold())))[:20]
    if not words or not pieces:
        return ()
    texts = [each.text.replace("\0", "") for each in pieces]
    if database is None or database.is_sqlite:
        return tuple(pieces[row] for row in _by_fts5(texts, words, most))
    return tuple(pieces[row] for row in _by_postgresql(database, texts, words, most))


def _by_fts5(texts: Sequence[str], words: Sequence[str], most: int) -> list[int]:
    wanted = " OR ".join(f'"{word}"' for word in words)
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute("CREATE VIRTUAL TABLE pieces USING fts5(text, tokenize='porter unicode61')")
        index.executemany("INSERT INTO pieces(rowid, text) VALUES (?, ?)", enumerate(texts))
        asked = "SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY bm25(pieces), rowid LIMIT ?"
        return [row for (row,) in index.execute(asked, (wanted, most))]


def _by_postgresql(database: Database, texts: Sequence[str], words: Sequence[str], most: int) -> list[int]:
    # Quoted, so that no word is an operator of the query.
    wanted = " | ".join(f"'{word}'" for word in words)
    given = {"texts": list(texts), "wanted": wanted, "most": most}
    with database.reading() as connection:
        return [int(row) for row in connection.execute(_RANKED, given).scalars()]


_RANKED = text(
    """
    SELECT number - 1
    FROM unnest(CAST(:texts AS text[])) WITH ORDINALITY AS piece(body, number),
         to_tsquery('english', :wanted) AS wanted
    WHERE to_tsvector('english', body) @@ wanted
    ORDER BY ts_rank(to_tsvector('english', body), wanted, 1) DESC, number
    LIMIT :most
    """
)
