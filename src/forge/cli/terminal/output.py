"""What a command shows: prose and tables for people, or one JSON document for programs."""

from __future__ import annotations

import dataclasses
import json as json_format
import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import IO, Any

from forge.cli.terminal import streams
from forge.errors import ForgeError, Upstream

# Control characters except the tab, and those that turn the direction of the text around them.
_STEERING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_BROKEN = re.compile("[\ud800-\udfff]")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_KB = 1024
_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class OutputFailed(Upstream):
    """Standard output could not take the result; what was asked for may well be done."""

    code = "output_failed"


class ReaderLeft(Exception):
    """Whoever read our output has seen enough, as in `forge log | head`."""


class Output:
    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._given = False
        self.terminal = sys.stdout.isatty()
        plain_wanted = json or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        self._colour = self.terminal and not plain_wanted

    def result(self, value: object) -> None:
        """The one JSON document; prose commands print their own lines instead. What comes after it is told by the exit
        code, and on standard error.
        """
        if self.json and not self._given:
            self._given = True
            self._write(json_format.dumps(plain(value), indent=2))

    def line(self, text: str = "") -> None:
        """A line for people; a program that asked for JSON does not get it."""
        if not self.json:
            self._write(text)

    def text(self, text: str, *styles: str, indent: str = "") -> None:
        """Words of people and models, which may have many lines: each made safe, in a style."""
        for line in text.split("\n"):
            self.line(f"{indent}{self.styled(line.removesuffix(chr(13)), *styles)}" if line.strip() else "")

    def raw(self, data: bytes) -> None:
        """Content as it is: byte for byte into a pipe or file, made safe on a terminal."""
        self._given = True
        try:
            _write_raw(sys.stdout, data)
        except OSError as e:
            raise undelivered(e) from e

    def raw_error(self, data: bytes) -> None:
        """The same on standard error."""
        try:
            _write_raw(sys.stderr, data)
        except OSError:
            streams.abandon(sys.stderr)

    def note(self, text: str) -> None:
        """A line on standard error, for people and for the logs of programs."""
        try:
            print(shown(text), file=sys.stderr, flush=True)  # noqa: T201
        except OSError:
            streams.abandon(sys.stderr)

    def aside(self, text: str) -> None:
        """A note that only people need: a program sees for itself that there is nothing."""
        if not self.json:
            self.note(text)

    def error(self, error: ForgeError, **done: object) -> None:
        """What went wrong; `done` is what had been done before, for programs."""
        self.result({**done, "error": {"code": error.code, "message": error.message, "hint": error.hint}})
        self.note(f"forge: {error.message}")
        if error.hint:
            self.note(f"  → {error.hint}")

    def styled(self, text: str, *styles: str) -> str:
        """`text`, made safe for a terminal, in a style where there is a terminal."""
        # Through a pipe, names that are not UTF-8 keep their bytes, so that other programs find the files.
        safe = shown(text) if self.terminal else _STEERING.sub(_escaped, text)
        if not self._colour or not styles:
            return safe
        return f"\x1b[{';'.join(_STYLES[s] for s in styles)}m{safe}\x1b[0m"

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Columns as wide as their widest cell. Cells may carry styles."""
        rows = [tuple(row) for row in rows]
        widths = [max(_width(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows), default=0))]
        for row in rows:
            cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
            self.line("  ".join(cells).rstrip())

    def flush(self) -> None:
        try:
            sys.stdout.flush()
        except OSError as e:
            raise undelivered(e) from e

    def _write(self, text: str) -> None:
        try:
            print(text)  # noqa: T201
        except OSError as e:
            raise undelivered(e) from e


def undelivered(error: OSError) -> ReaderLeft | OutputFailed:
    """What it means that standard output took no more."""
    streams.abandon(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return ReaderLeft()
    return OutputFailed(
        f"The output could not be written: {error.strerror}.",
        hint="The work itself may be done: `forge undo --list` shows what moved.",
    )


def _write_raw(stream: IO[str], data: bytes) -> None:
    stream.flush()
    if stream.isatty():
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        stream.write("\n".join(shown(line.removesuffix("\r")) for line in lines))
    else:
        stream.buffer.write(data)  # type: ignore[attr-defined]
    stream.flush()


def shown(text: str) -> str:
    """Names and messages come from strangers: nothing in them may steer the terminal."""
    return _BROKEN.sub(_escaped, _STEERING.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    point = ord(found[0])
    if 0xDC80 <= point <= 0xDCFF:  # a byte that is not UTF-8
        point -= 0xDC00
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def cut(text: str, width: int) -> str:
    """At most `width` characters; what is cut off is marked."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def byte_count(size: int) -> str:
    """`3 MB`, `1.5 KB`, `12 bytes`."""
    if size < _KB:
        return f"{size} byte{'' if size == 1 else 's'}"
    value, unit = float(size), 0
    while value >= _KB and unit < len(_UNITS) - 1:
        value, unit = value / _KB, unit + 1
    return f"{value:.1f}".removesuffix(".0") + f" {_UNITS[unit]}"


def ago(moment: float) -> str:
    """How long ago, in one unit."""
    seconds = max(0, int(time.time() - moment))
    for size, unit in ((31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


def plain(value: object) -> Any:
    """Values as JSON can carry them: dataclasses and named tuples as objects, bytes as text."""
    match value:
        case Enum():
            return value.value
        case bool() | int() | float() | str() | None:
            return value
        case bytes():
            return value.decode("utf-8", "replace")
        case Path():
            return str(value)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case tuple() if hasattr(value, "_asdict"):
            return plain(value._asdict())
        case _ if dataclasses.is_dataclass(value):
            return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr}
        case Iterable():
            return [plain(item) for item in value]
    return str(value)


def _width(cell: str) -> int:
    """Columns on a terminal, styles left out; some letters take two, some none."""
    text = _STYLE.sub("", cell)
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
