"""Writes the list of addresses in `docs/api.md` from the routes: `python -m forge.api.openapi.reference FILE`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forge.api.openapi import schema

MARK = "<!-- From here on written by `python -m forge.api.openapi.reference docs/api.md`. -->"


def updated(document: str) -> str:
    """The document with the part below the mark written anew; what is above is for people to write."""
    head = document.partition(MARK)[0].rstrip()
    return f"{head}\n\n{MARK}\n\n{reference()}"


def reference() -> str:
    return "\n".join(_sections(json.loads(schema.text())["paths"]))


def _sections(paths: dict[str, dict[str, dict[str, Any]]]) -> Iterator[str]:
    yield "## Every address\n"
    by_noun: dict[str, list[str]] = {}
    for path, methods in paths.items():
        for method, operation in methods.items():
            row = f"| `{method.upper()} {path}` | {_line(operation['description'])} |"
            by_noun.setdefault(operation["tags"][0], []).append(row)
    for noun, rows in sorted(by_noun.items()):
        yield f"### {noun.capitalize()}\n"
        yield "\n".join(["| | |", "|---|---|", *rows]) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(updated(file.read_text(encoding="utf-8")), encoding="utf-8")
