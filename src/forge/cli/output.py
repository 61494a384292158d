"""What a command shows: prose and tables for people, or one JSON document for programs."""

from __future__ import annotations

import dataclasses
import json as json_format
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from forge.errors import ForgeError

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class Output:
    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._colour = sys.stdout.isatty() and not json

    def result(self, value: object) -> None:
        """The one JSON document; prose commands print their own lines instead."""
        if self.json:
            sys.stdout.write(json_format.dumps(plain(value), indent=2) + "\n")

    def line(self, text: str = "") -> None:
        """A line for people; a program that asked for JSON does not get it."""
        if not self.json:
            print(text)  # noqa: T201

    def note(self, text: str) -> None:
        print(text, file=sys.stderr)  # noqa: T201

    def error(self, error: ForgeError) -> None:
        self.result({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
        self.note(f"forge: {shown(error.message)}")
        if error.hint:
            self.note(f"  → {shown(error.hint)}")

    def styled(self, text: str, *styles: str) -> str:
        """`text`, made safe for a terminal, in a style where there is a terminal."""
        safe = shown(text)
        if not self._colour or not styles:
            return safe
        return f"\x1b[{';'.join(_STYLES[s] for s in styles)}m{safe}\x1b[0m"

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Columns as wide as their widest cell. Cells may carry styles."""
        rows = [tuple(row) for row in rows]
        widths = [max((len(_bare(row[i])) for row in rows), default=0) for i in range(max(map(len, rows), default=0))]
        for row in rows:
            cells = [cell + " " * (width - len(_bare(cell))) for cell, width in zip(row, widths, strict=False)]
            self.line("  ".join(cells).rstrip())

    def flush(self) -> None:
        sys.stdout.flush()


def shown(text: str) -> str:
    """Names and messages come from strangers: nothing in them may steer the terminal."""
    return _CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}", text)


def ago(moment: float) -> str:
    """How long ago, in one unit."""
    seconds = max(0, int(time.time() - moment))
    for size, unit in ((31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


def plain(value: object) -> Any:
    """Values as JSON can carry them: dataclasses as objects, bytes as text."""
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
        case _ if dataclasses.is_dataclass(value):
            return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr}
        case Iterable():
            return [plain(item) for item in value]
    return str(value)


def _bare(cell: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", cell)
