"""The mark at the end of each line that Forge writes into MEMORY.md: invisible when rendered, and with a checksum.

A line whose words or mark somebody changed no longer fits its checksum: from then on it is that person's own.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, unquote

from forge.memory.values import Entry, NoteKind, moment, parsed_moment

_LINE = re.compile(r"- (?P<text>.*) <!-- forge (?P<fields>[^<>]*) sum=(?P<sum>[0-9a-f]{8}) -->")


@dataclass(frozen=True, slots=True)
class Fold:
    """Many lines of one kind in the place of which one line stands."""

    kind: NoteKind
    count: int
    first: datetime
    last: datetime

    @property
    def text(self) -> str:
        noun = self.kind.value.lower() if self.count > 1 else self.kind.name.lower()
        return f"… {self.count} earlier {noun} folded (from {moment(self.first)} to {moment(self.last)})"


Own = Entry | Fold


def line_of(own: Own) -> str:
    match own:
        case Entry():
            fields = _fields(
                kind=own.kind.name.lower(),
                at=moment(own.at),
                initiative=own.initiative,
                counter=str(own.counter or ""),
                phase=own.phase,
                step=own.step,
            )
        case Fold():
            fields = _fields(
                folded=own.kind.name.lower(), count=str(own.count), first=moment(own.first), last=moment(own.last)
            )
    return f"- {own.text} <!-- forge {fields} sum={_sum(own.text, fields)} -->"


def parsed_line(line: str) -> Own | None:
    """None if the line is not Forge's, or no longer."""
    found = _LINE.fullmatch(line)
    if found is None or found["sum"] != _sum(found["text"], found["fields"]):
        return None
    fields = {name: unquote(value) for name, _, value in (pair.partition("=") for pair in found["fields"].split(" "))}
    try:
        return _parsed(found["text"], fields)
    except (KeyError, ValueError):
        return None


def _parsed(text: str, fields: dict[str, str]) -> Own:
    if "folded" in fields:
        first, last = parsed_moment(fields["first"]), parsed_moment(fields["last"])
        return Fold(NoteKind[fields["folded"].upper()], int(fields["count"]), first, last)
    return Entry(
        kind=NoteKind[fields["kind"].upper()],
        text=text,
        at=parsed_moment(fields["at"]),
        initiative=fields.get("initiative", ""),
        counter=int(fields.get("counter", "0")),
        phase=fields.get("phase", ""),
        step=fields.get("step", ""),
    )


def _fields(**fields: str) -> str:
    return " ".join(f"{name}={quote(value, safe=':')}" for name, value in fields.items() if value)


def _sum(text: str, fields: str) -> str:
    return hashlib.sha256(f"{text}\n{fields}".encode("utf-8", "surrogateescape")).hexdigest()[:8]
