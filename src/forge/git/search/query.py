"""What to look for and where: the question a search answers, and the limits it keeps to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forge.errors import InvalidInput


class InvalidQuery(InvalidInput):
    """The pattern, a glob or a limit cannot be used."""

    code = "invalid_query"


class TimeUp(Exception):
    """`max_seconds` have passed. Never leaves the search, which then says that it was cut short."""


class Case(StrEnum):
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    SMART = "smart"
    """Insensitive unless the pattern has a capital letter."""


@dataclass(frozen=True, slots=True)
class Query:
    r"""A search, line by line.

    A regular expression is Python's `re` on the bytes of each line without its end (`\n` or `\r\n`): `^` and `$` are
    the ends of the line, nothing matches across lines, `.` is one byte, classes and `\w` know ASCII. A character
    beyond ASCII stands for its UTF-8 bytes as one unit; inside of `[…]` it is refused. Without `regex` the pattern is
    plain text. When case does not count, letters beyond ASCII are found in either case too.
    """

    pattern: str
    regex: bool = False
    case: Case = Case.SENSITIVE
    whole_word: bool = False
    """No letter, digit, underscore or character beyond ASCII may touch the match."""
    include: tuple[str, ...] = ()
    """Globs, see `forge.git.search.globs`; only paths that one of them matches. None given: all."""
    exclude: tuple[str, ...] = ()
    """Paths that one of these matches are left out."""
    context_before: int = 0
    context_after: int = 0
    max_matches: int = 1_000
    """Matching lines in all."""
    max_per_file: int = 1_000
    max_file_bytes: int = 1 << 20
    """Larger files are named instead of searched."""
    max_seconds: float = 30.0
    """Checked between files; an expression that may take for ever runs where it can be ended at that moment."""

    def checked(self) -> Query:
        """The query itself if its limits make sense; else `InvalidQuery`."""
        if self.case not in tuple(Case):
            raise InvalidQuery(
                f"`{self.case}` is no way to compare letters.", hint="Use sensitive, insensitive or smart."
            )
        for name in ("context_before", "context_after"):
            if not 0 <= getattr(self, name) <= 1_000:
                raise InvalidQuery(f"{name} is outside of 0 to 1,000.", hint="Ask for fewer lines of context.")
        for name in ("max_matches", "max_per_file", "max_file_bytes"):
            if getattr(self, name) < 1:
                raise InvalidQuery(f"{name} must be at least 1.", hint="Leave it out to use the usual limit.")
        if not 0 < self.max_seconds <= 3_600:
            raise InvalidQuery("max_seconds is outside of 0 to 3,600.", hint="Leave it out to use 30 seconds.")
        return self
