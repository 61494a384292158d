"""Text as Markdown that says the same and builds nothing: no heading, table, comment or fence comes from content."""

from __future__ import annotations

import re

_PUNCTUATION = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
# One line, and nothing in it that would have to be escaped: inside code a backslash would be seen.
_SPAN = r"(?<![\\`])(?P<ticks>`+)(?!`)(?P<code>[^|\\\n`]+)(?P=ticks)(?!`)"
_TO_ESCAPE = re.compile(rf"(?P<span>{_SPAN})|(?P<mark>`|\||<(?=[A-Za-z/!?])|\\(?=[{_PUNCTUATION}]|$))")
_ESCAPED = re.compile(rf"(?P<span>{_SPAN})|\\(?P<mark>[{_PUNCTUATION}])|(?P<turn><br>)")
_PREFIX = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*")
_OPENS_A_BLOCK = re.compile(r"#|>|~~~|\[[^\]]*\]:|[-:=_*\s]+$")
# A pipe ends a cell unless an odd number of backslashes stands before it.
_CELL = re.compile(r"(?:\\.|[^|\\]|\\$)*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")


def tidy_cell(text: str) -> str:
    """What a cell of a table keeps of a text: its lines, without blank ones."""
    lines = (" ".join(line.split()) for line in _plain_lines(text))
    return "\n".join(line for line in lines if line)


def tidy_block(text: str) -> str:
    """What a block keeps of a text: paragraphs and lists, indented only where a list is."""
    kept: list[str] = []
    for line in _plain_lines(text):
        stripped = line.strip()
        indent = min(len(line) - len(line.lstrip()), 6) if _BULLET.match(stripped) and kept else 0
        if stripped or (kept and kept[-1]):
            kept.append(" " * indent + stripped)
    return "\n".join(kept).strip()


def cell(text: str) -> str:
    """Into one cell of a table."""
    return "<br>".join(_line(line) for line in tidy_cell(text).split("\n"))


def block(text: str) -> str:
    """Between two headings."""
    return "\n".join(_line(line) for line in tidy_block(text).split("\n"))


def from_cell(markdown: str) -> str:
    return tidy_cell(_ESCAPED.sub(_unescaped_in_cell, markdown.strip()))


def from_block(markdown: str) -> str:
    return tidy_block(_ESCAPED.sub(_unescaped, markdown))


def cells(row: str) -> list[str]:
    """The cells of a row of a table, as they stand there. A pipe after a backslash does not end a cell."""
    row = row.strip().removeprefix("|")
    parts: list[str] = []
    at = 0
    while at <= len(row) and (found := _CELL.match(row, at)):
        parts.append(found[0].strip())
        at = found.end() + 1
    return parts[:-1] if len(parts) > 1 and not parts[-1] else parts


def without_code(markdown: str) -> str:
    return re.sub(_SPAN, "``", markdown)


def _plain_lines(text: str) -> list[str]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return _CONTROL.sub(" ", text).split("\n")


def _line(line: str) -> str:
    prefix = _PREFIX.match(line)
    start = prefix.end() if prefix else 0
    if re.fullmatch(r"[-:=_*\s]+", line):
        start = len(line) - len(line.lstrip())
    head, rest = line[:start], line[start:]
    opens = "\\" if _OPENS_A_BLOCK.match(rest) else ""
    return head + opens + _TO_ESCAPE.sub(_escape, rest)


def _escape(found: re.Match[str]) -> str:
    return found["span"] or "\\" + found["mark"]


def _unescaped(found: re.Match[str]) -> str:
    return found["mark"] or found[0]


def _unescaped_in_cell(found: re.Match[str]) -> str:
    return "\n" if found["turn"] else _unescaped(found)
