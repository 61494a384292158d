"""Checks a call's arguments against the tool's JSON schema and says, field by field, what was expected instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forge.tools.contract import Json, ToolRetry

_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_DEEPEST = 32
_COMPLAINTS = 5


def checked(schema: Json, arguments: object) -> Json:
    """The arguments, with whole floats as integers where those are meant; else `ToolRetry` with every complaint."""
    if not isinstance(arguments, dict):
        raise ToolRetry(f"The arguments must be an object, not {_kind(arguments)}.")
    value = _settled(schema, arguments, 0)
    found = list(_complaints(schema, value, "", 0))
    if found:
        more = [f"… and {len(found) - _COMPLAINTS} more"] if len(found) > _COMPLAINTS else []
        raise ToolRetry("Wrong arguments:\n" + "\n".join(f"- {each}" for each in [*found[:_COMPLAINTS], *more]))
    assert isinstance(value, dict)
    return value


def _settled(schema: Mapping[str, Any], value: object, depth: int) -> object:
    if depth > _DEEPEST:
        raise ToolRetry("The arguments are nested too deeply.")
    if isinstance(value, float) and "integer" in _types(schema) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {name: _settled(known.get(name, {}), each, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        each = schema.get("items", {})
        return [_settled(each if isinstance(each, dict) else {}, item, depth + 1) for item in value]
    return value


def _complaints(schema: Mapping[str, Any], value: object, at: str, depth: int) -> Iterator[str]:
    where = f"`{at}`" if at else "the arguments"
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list) and options:
        tried = [list(_complaints(option, value, at, depth + 1)) for option in options]
        if all(tried):
            yield from min(tried, key=len)
            return
    types = _types(schema)
    if types and not any(_is(value, kind) for kind in types):
        yield f"{where} must be {' or '.join(map(_named, types))}, not {_kind(value)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} must be one of {', '.join(json.dumps(each) for each in schema['enum'])}"
    if isinstance(value, str):
        yield from _size_complaints(schema, len(value), where, ("minLength", "maxLength"), "characters")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _range_complaints(schema, value, where)
    elif isinstance(value, list):
        yield from _size_complaints(schema, len(value), where, ("minItems", "maxItems"), "items")
        items = schema.get("items")
        if isinstance(items, dict):
            for place, item in enumerate(value):
                yield from _complaints(items, item, f"{at}[{place}]", depth + 1)
    elif isinstance(value, dict):
        yield from _object_complaints(schema, value, at, depth)


def _object_complaints(schema: Mapping[str, Any], value: Mapping[str, object], at: str, depth: int) -> Iterator[str]:
    known: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            expected = _named(_types(known.get(name, {}))) if name in known else ""
            yield f"`{_inner(at, name)}` is missing{f'; it must be {expected}' if expected else ''}"
    for name, each in value.items():
        if name in known:
            yield from _complaints(known[name], each, _inner(at, name), depth + 1)
        elif schema.get("additionalProperties") is False:
            yield f"`{_inner(at, _short(name))}` is not an argument; known are {', '.join(known) or 'none'}"


def _size_complaints(
    schema: Mapping[str, Any], size: int, where: str, names: tuple[str, str], what: str
) -> Iterator[str]:
    least, most = schema.get(names[0], 0), schema.get(names[1])
    if size < least:
        yield f"{where} is empty" if size == 0 and least == 1 else f"{where} must have at least {least:,} {what}"
    elif most is not None and size > most:
        yield f"{where} has {size:,} {what}; at most {most:,} are allowed"


def _range_complaints(schema: Mapping[str, Any], value: float, where: str) -> Iterator[str]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        bounds = [f"at {word} {bound:,}" for word, bound in (("least", least), ("most", most)) if bound is not None]
        yield f"{where} must be {' and '.join(bounds)}"


def _types(schema: Mapping[str, Any]) -> Sequence[str]:
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else tuple(kind)


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return kind not in _KINDS or isinstance(value, _KINDS[kind])


def _kind(value: object) -> str:
    return next((_named(kind) for kind in _KINDS if _is(value, kind)), type(value).__name__)


def _named(kind: str | Sequence[str]) -> str:
    if not isinstance(kind, str):
        return " or ".join(map(_named, kind))
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aio" else f"a {kind}"


def _inner(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _short(name: object) -> str:
    text = str(name)
    return text if len(text) <= 60 else f"{text[:57]}..."
