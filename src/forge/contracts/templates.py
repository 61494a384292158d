"""What ships with Forge: an example of each contract, around one neutral application, and the schemas."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib import resources

from forge.contracts import directive
from forge.contracts.kinds import Kind
from forge.json_value import Json


@cache
def template(kind: Kind, *, mini: bool = False) -> str:
    """With `mini`, for a build of exactly two phases."""
    if mini and kind is Kind.PHASES:
        return _shipped("templates", "phases_mini.md")
    text = _shipped("templates", kind.file)
    if mini and kind is Kind.BUILDER_DIRECTIVE:
        return directive.format(replace(directive.parse(text), order=(0, 1)))
    return text


@cache
def schema(kind: Kind) -> Json:
    """A JSON Schema for YAML and JSON kinds; for Markdown, the sections that are required."""
    if kind.form == "markdown":
        return {"title": kind.value, "format": kind.form, "required_sections": list(kind.sections)}
    loaded: Json = json.loads(_shipped("schemas", f"{kind.value}.json"))
    return loaded


def _shipped(folder: str, name: str) -> str:
    return (resources.files("forge.contracts") / folder / name).read_text(encoding="utf-8")
