"""Writes the documentation of the API to a file, which the web interface has its types from: `… schema FILE`."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from forge.api.access.gate import Gate
from forge.api.application import create
from forge.app.process.workshop import Workshop
from forge.events import KINDS, Event

EVENTS = "x-events"
"""The kinds of events with the names of their facts, which no address of the document describes."""


def text() -> str:
    """The document as it is kept in files: the same for the same routes, on every machine."""
    # Routes are only described here, never called, so nothing needs to be opened for them.
    shop = SimpleNamespace(redactor=SimpleNamespace(text=str))
    gate = SimpleNamespace(cookie_name="forge_3000")
    document = dict(create(cast("Workshop", shop), cast("Gate", gate), static=None).openapi())
    document[EVENTS] = {name: {"live": kind.live, "facts": _facts(kind)} for name, kind in sorted(KINDS.items())}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _facts(kind: type[Event]) -> dict[str, str]:
    return {field.name: str(field.type) for field in fields(kind)}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
