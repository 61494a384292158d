"""Full-text search over the pieces of a person's documents: an index in memory, made for one search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

_SIZE = 900
"""Characters of a piece, about; it ends where a paragraph or a line does."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Piece:
    place: str
    """The file and where in it, for a citation."""
    text: str


def chunked(path: str, text: str) -> list[Piece]:
    """The text in pieces of whole lines, each with its lines as place."""
    pieces: list[Piece] = []
    lines: list[str] = []
    first, size = 1, 0
    for number, whole in enumerate(text.splitlines(), 1):
        for start in range(0, max(len(whole), 1), _SIZE):
            line = whole[start : start + _SIZE]
            if lines and (start or size + len(line) > _SIZE):
                pieces.append(_piece(path, first, lines))
                lines, first, size = [], number, 0
            lines.append(line)
            size += len(line) + 1
    if any(line.strip() for line in lines):
        pieces.append(_piece(path, first, lines))
    return pieces


def _piece(path: str, first: int, lines: Sequence[str]) -> Piece:
    last = first + len(lines) - 1
    where = f"line {first}" if last == first else f"lines {first}-{last}"
    return Piece(f"{path}, {where}", "\n".join(lines).strip())


def search_passages(pieces: Sequence[Piece], query: str, *, most: int = 4) -> tuple[Piece, ...]:
    """The pieces that fit the words best, the best first. A query without words finds nothing."""
    words = list(dict.fromkeys(_WORD.findall(query.casefold())))[:20]
    if not words or not pieces:
        return ()
    wanted = " OR ".join(f'"{word}"' for word in words)
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute("CREATE VIRTUAL TABLE pieces USING fts5(text, tokenize='porter unicode61')")
        index.executemany("INSERT INTO pieces(rowid, text) VALUES (?, ?)", enumerate([p.text for p in pieces]))
        asked = "SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY bm25(pieces) LIMIT ?"
        rows = index.execute(asked, (wanted, most)).fetchall()
    return tuple(pieces[row] for (row,) in rows)
