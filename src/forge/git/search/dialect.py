"""From a query to one pattern on bytes: plain text and expressions, case, whole words, letters beyond ASCII."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forge.git.search import effort, literals
from forge.git.search.lines import Finder, parts, sre
from forge.git.search.query import Case, InvalidQuery, Query

if TYPE_CHECKING:
    from forge.git.search.literals import Literals

MAX_PATTERN = 10_000

_LEADING_FLAGS = re.compile(r"\(\?([aimsx]+)\)")
_FLAG = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
# A `]` right at the start of a class is a member, not its end.
_CLASS_START = re.compile(r"\[\^?\]?")
_WORD = rb"[\w\x80-\xff]"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern on bytes and what is known about it."""

    key: tuple[bytes, int, bytes, bool]
    """What a `Finder` is made of."""
    finder: Finder
    literals: Literals
    repeats: bool
    """On a very long line it may take for ever, so there it runs only where it can be ended."""
    tame: bool
    """It is quick on all other lines."""


def pattern_of(query: Query) -> Pattern:
    """The one pattern that decides what matches; `InvalidQuery` says where it is wrong."""
    text = query.pattern
    if not text:
        raise InvalidQuery("The pattern is empty.", hint="Say what to look for.")
    if len(text) > MAX_PATTERN:
        raise InvalidQuery(f"The pattern is longer than {MAX_PATTERN:,} characters.", hint="Search for a part.")
    with warnings.catch_warnings():
        # `[[` and the like will mean something else in a later Python; today they are plain members.
        warnings.simplefilter("ignore", FutureWarning)
        return _of_expression(query) if query.regex else _of_plain_text(query)


def _of_plain_text(query: Query) -> Pattern:
    text = query.pattern
    if "\n" in text:
        raise _across_lines()
    folded = _ignores_case(query, has_capital=any(char.isupper() for char in text))
    source = b"".join(_character(char, folded=folded) for char in text)
    return _pattern(query, source, re.IGNORECASE if folded else 0)


def _of_expression(query: Query) -> Pattern:
    text = query.pattern
    tree = _parsed(text)
    if _has(tree, lambda op, argument: op is sre.LITERAL and argument == ord("\n")):
        raise _across_lines()
    folded = _ignores_case(query, has_capital=_has(tree, _is_capital))
    flags = re.IGNORECASE if folded else 0
    while found := _LEADING_FLAGS.match(text):
        for letter in found[1]:
            flags |= _FLAG[letter]
        text = text[found.end() :]
    source = _encoded(text, folded=folded)
    try:
        return _pattern(query, source, flags)
    except (re.error, ValueError, OverflowError, RecursionError) as e:
        raise InvalidQuery(f"The expression cannot be used: {e}.", hint="Simplify it.") from e


def _parsed(text: str) -> Any:
    """Python's own reading of the expression, so that a mistake is shown at its place in what was typed."""
    try:
        re.compile(text, re.ASCII)
        return sre.parse(text, re.ASCII)
    except re.error as e:
        where = f" at position {e.pos + 1}" if e.pos is not None else ""
        raise InvalidQuery(
            f"The expression is not valid{where}: {e.msg}.",
            hint="Put a backslash before a character meant literally, or search for plain text.",
        ) from e
    except (ValueError, OverflowError, RecursionError) as e:
        raise InvalidQuery(f"The expression cannot be used: {e}.", hint="Simplify it.") from e


def _pattern(query: Query, source: bytes, flags: int) -> Pattern:
    if query.whole_word:
        # A verbose expression may end in a comment, which would take in what closes the group.
        end = b"\n" if flags & re.VERBOSE else b""
        source = rb"(?<!%s)(?:%s%s)(?!%s)" % (_WORD, source, end, _WORD)
    tree = sre.parse(source, flags)
    needed = literals.required(source, flags)
    key = source, int(flags), needed.scout(), needed.folded
    return Pattern(
        key,
        Finder(*key),
        needed,
        repeats=effort.repeats(tree),
        tame=not query.regex or effort.is_tame(tree),
    )


def _ignores_case(query: Query, *, has_capital: bool) -> bool:
    return query.case == Case.INSENSITIVE or (query.case == Case.SMART and not has_capital)


def _encoded(text: str, *, folded: bool) -> bytes:
    """`text` on bytes: a character beyond ASCII becomes one group, so that `é+` repeats all of it."""
    if text.isascii():
        return text.encode()
    out: list[bytes] = []
    place, in_class = 0, False
    while place < len(text):
        char = text[place]
        if char == "\\":
            char = text[place : place + 2]
        elif char == "[" and not in_class:
            char = _CLASS_START.match(text, place)[0]  # type: ignore[index]
            in_class = True
        elif char == "]":
            in_class = False
        place += len(char)
        if char.isascii():
            out.append(char.encode())
        elif in_class:
            raise InvalidQuery(
                f"`{char[-1]}` stands inside of […], where only ASCII can be.",
                hint="Write (?:ä|ö) instead of [äö].",
            )
        else:
            out.append(_character(char[-1], folded=folded))
    return b"".join(out)


def _character(char: str, *, folded: bool) -> bytes:
    """A pattern for exactly this character, in either case when `folded`."""
    if char.isascii():
        return re.escape(char.encode())
    forms = {char, char.lower(), char.upper()} if folded else {char}
    try:
        encoded = sorted(form.encode("utf-8", "surrogateescape") for form in forms if len(form) == 1)
    except UnicodeEncodeError as e:
        raise InvalidQuery("The pattern is not valid Unicode.", hint="Type it anew.") from e
    return b"(?:%s)" % b"|".join(map(re.escape, encoded))


def _has(tree: Any, wanted: Callable[[Any, Any], bool]) -> bool:
    for op, argument in tree.data:
        if wanted(op, argument) or any(_has(below, wanted) for below in parts(op, argument)):
            return True
    return False


def _is_capital(op: Any, argument: Any) -> bool:
    if op in (sre.LITERAL, sre.NOT_LITERAL):
        return chr(argument).isupper()
    if op is sre.RANGE:
        return any(chr(end).isupper() for end in argument)
    return op is sre.IN and any(_is_capital(*member) for member in argument)


def _across_lines() -> InvalidQuery:
    return InvalidQuery(
        "The pattern contains a line break, but a search looks at one line at a time.",
        hint="Search for one of the lines, with lines of context around it.",
    )
