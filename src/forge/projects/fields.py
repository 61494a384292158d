"""JSON files of a project: one way to write them, and checked reading of their fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from forge.json_value import Json
from forge.projects.errors import InvalidRecord


def dumped(value: object) -> str:
    """JSON as every file of a project has it: indented, readable letters, a line break at the end."""
    # Half a surrogate pair, as cut-off model output has it, cannot be written as UTF-8.
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode() + "\n"


def loaded(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise InvalidRecord(f"{what} is not JSON: {e}", hint=f"Repair or remove {what}.") from e


def loaded_object(text: str, what: str) -> Json:
    value = loaded(text, what)
    if not isinstance(value, dict):
        raise InvalidRecord(f"{what} does not hold a JSON object.", hint=f"Repair or remove {what}.")
    return value


def loaded_lines(text: str, what: str) -> tuple[Json, ...]:
    """One object a line."""
    return tuple(loaded_object(line, what) for line in text.splitlines() if line.strip())


def text_of(values: Mapping[str, Any], key: str, what: str) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise invalid(what, key, "a text")
    return value


def optional_text(values: Mapping[str, Any], key: str, what: str) -> str | None:
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        raise invalid(what, key, "a text or null")
    return value


def count_of(values: Mapping[str, Any], key: str, what: str) -> int:
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise invalid(what, key, "a number from 0")
    return value


def flag_of(values: Mapping[str, Any], key: str, what: str, *, default: bool = False) -> bool:
    value = values.get(key, default)
    if not isinstance(value, bool):
        raise invalid(what, key, "true or false")
    return value


def invalid(what: str, key: str, wanted: str) -> InvalidRecord:
    return InvalidRecord(f"`{key}` in {what} must be {wanted}.", hint=f"Repair or remove {what}.")


def iso(moment: datetime) -> str:
    """A moment as the files of a project have it, in UTC with milliseconds. A naive one is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
