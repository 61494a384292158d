"""Long lists come in pages: some items, and where the next ones begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from forge.errors import InvalidInput

T = TypeVar("T")
MOST = 1000
_DIGITS = 18
"""What a database still takes for a number."""


class InvalidPage(InvalidInput):
    """The size or the beginning of a page makes no sense."""

    code = "invalid_page"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: tuple[T, ...]
    next: str | None = None
    """Hand it in as `after` to get the following items; None at the end."""


def checked(limit: int) -> int:
    if not 1 <= limit <= MOST:
        raise InvalidPage(f"A page has 1 to {MOST} items, not {limit}.", hint="Ask for fewer, and for the next page.")
    return limit


def position(after: str | None) -> int:
    """Of lists whose items are counted: how many come before the page."""
    if not after:
        return 0
    if not (after.isascii() and after.isdecimal() and len(after) <= _DIGITS):
        raise unreadable(after)
    return int(after)


def unreadable(after: str) -> InvalidPage:
    return InvalidPage(f"{after[:40]!r} is not where a page ended.", hint="Use `next` of the page before, as it is.")
