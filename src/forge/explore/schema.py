"""Small parts of the JSON schemas with which the tools of the explorer are described to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.explore.workbench import Handler, StateTool
from forge.json_value import Json

REASON: Json = {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Why, in one sentence."}
ID: Json = {"type": "string", "description": "For example A3."}
IDS: Json = {"type": "array", "items": {"type": "string"}, "maxItems": 50}
TEXTS: Json = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 1000}, "maxItems": 50}
NUMBER: Json = {"type": "number"}


def text(description: str = "", *, most: int = 2000) -> Json:
    described = {"description": description} if description else {}
    return {"type": "string", "minLength": 1, "maxLength": most, **described}


def one_of(names: Sequence[str], description: str = "") -> Json:
    return {"type": "string", "enum": list(names), **({"description": description} if description else {})}


def members(required: str = "", **properties: Json) -> Json:
    """An object: `required` names its properties that must be there."""
    made: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**made, "required": required.split()} if required else made


def listed(item: Json, *, least: int = 0, most: int = 50, description: str = "") -> Json:
    told = {"description": description} if description else {}
    return {"type": "array", "items": item, "minItems": least, "maxItems": most, **told}


def tool(name: str, description: str, handler: Handler, required: str = "", /, **properties: Any) -> StateTool:
    """Every change gives its reason."""
    return StateTool(name, description, members(f"reason {required}".strip(), **properties, reason=REASON), handler)
