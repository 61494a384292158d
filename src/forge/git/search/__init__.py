"""Search over a tree and pending changes: plain text and expressions, line by line, with globs, context and limits.

One law decides what matches (see `Query`), whether a file is pending, read from git or in the text cache. `warm` fills
that cache, which makes searches quick on every branch; without it they ask `git grep` first.
"""

from forge.git.search.cache_fill import Warmth, is_warm, warm
from forge.git.search.matches import FileMatches, Match
from forge.git.search.query import Case, InvalidQuery, Query
from forge.git.search.results import Found, Limit, SearchResult, search

__all__ = [
    "Case",
    "FileMatches",
    "Found",
    "InvalidQuery",
    "Limit",
    "Match",
    "Query",
    "SearchResult",
    "Warmth",
    "is_warm",
    "search",
    "warm",
]
